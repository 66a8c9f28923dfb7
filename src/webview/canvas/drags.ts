import { type DrawnNode, levelOf } from '../../flows/layout/drawing.ts';
import type { Point } from '../../flows/layout/shape.ts';
import type { CanvasActions } from './actions/canvasActions.ts';
import type { Editing } from './actions/editing.ts';
import { svg } from './dom/elements.ts';
import type { Scene } from './scene/scene.ts';
import type { CanvasStore } from './state/canvasStore.ts';
import type { Viewport } from './dom/viewport.ts';

/** The collaborators of a drag. */
export interface DragParts {
  readonly surface: HTMLElement;
  readonly store: CanvasStore;
  readonly scene: Scene;
  readonly viewport: Viewport;
  readonly actions: CanvasActions;
  readonly editing: Editing;
}

/** What happens between press and release. */
export interface Drag {
  /** Also called for the last position, before `drop`. */
  move(at: Point, event: PointerEvent): void;
  drop(event: PointerEvent): void;
  cancel(): void;
}

/** Moves the view. */
export function pan({ viewport, surface }: DragParts, start: PointerEvent): Drag {
  let last = pointOf(start);
  const end = (): void => surface.classList.remove('is-panning');
  return {
    move: (_at, event) => {
      surface.classList.add('is-panning');
      const now = pointOf(event);
      viewport.panBy(now.x - last.x, now.y - last.y);
      last = now;
    },
    drop: end,
    cancel: end,
  };
}

/** Moves a node. */
export function moveNode({ viewport, actions, scene }: DragParts, node: DrawnNode, start: PointerEvent): Drag {
  const from = viewport.toDrawing(pointOf(start));
  const ghost = svg('rect', { class: 'ghost', width: node.box.width, height: node.box.height, rx: 8 });
  // A nested flow has its own origin, so only nodes of the outermost flow can be moved on this page.
  const canMove = levelOf(node) === '';
  let to = { x: node.box.x, y: node.box.y };
  return {
    move: (at) => {
      if (!canMove) return;
      to = { x: node.box.x + at.x - from.x, y: node.box.y + at.y - from.y };
      ghost.setAttribute('transform', `translate(${to.x} ${to.y})`);
      if (!ghost.isConnected) scene.sketch.append(ghost);
    },
    drop: () => {
      ghost.remove();
      if (canMove) actions.moveNode(node, to.x, to.y);
    },
    cancel: () => ghost.remove(),
  };
}

/** Draws a line from a node to its new target; if it is dropped on no node, asks for one. */
export function dragConnection(
  { scene, editing, surface, store }: DragParts,
  source: DrawnNode,
  action: string | undefined,
): Drag {
  const from = { x: source.box.x + source.box.width / 2, y: source.box.y + source.box.height };
  const line = svg('path', { class: 'line' });
  let target: DrawnNode | undefined;
  const aim = (node: DrawnNode | undefined): void => {
    target = node;
    for (const shape of surface.querySelectorAll('.node.is-aimed')) shape.classList.remove('is-aimed');
    if (node !== undefined)
      surface.querySelector(`.node[data-path="${CSS.escape(node.path)}"]`)?.classList.add('is-aimed');
  };
  const end = (): void => {
    aim(undefined);
    line.remove();
  };
  return {
    move: ({ x, y }) => {
      const middle = (from.y + y) / 2;
      line.setAttribute('d', `M${from.x} ${from.y}C${from.x} ${middle} ${x} ${middle} ${x} ${y}`);
      if (!line.isConnected) scene.sketch.append(line);
      const isOver = ({ box }: DrawnNode): boolean =>
        x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
      aim(store.state.drawing.nodes.findLast(isOver));
    },
    drop: () => {
      const aimed = target;
      end();
      void editing.connect(source, { action, target: aimed });
    },
    cancel: end,
  };
}

/** The position of an event in the window. */
export const pointOf = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): Point => ({
  x: clientX,
  y: clientY,
});
