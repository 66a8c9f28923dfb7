import { type DrawnEdge, type DrawnNode, edgeAt, levelOf, nodeAt } from '../../flows/layout/drawing.ts';
import type { Point } from '../../flows/layout/shape.ts';
import type { CanvasActions } from './actions/canvasActions.ts';
import type { Editing } from './actions/editing.ts';
import { svg } from './dom/elements.ts';
import type { Scene } from './scene/scene.ts';
import type { CanvasStore } from './state/canvasStore.ts';
import type { Viewport } from './dom/viewport.ts';

const DRAG_PIXELS = 4;
const WHEEL_SPEED = 0.0022;

/** The position of an event in the window. */
const pointOf = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): Point => ({
  x: clientX,
  y: clientY,
});

interface PointerParts extends DragParts {
  readonly openMenu: (at: Point) => void;
}

/** The collaborators of a drag. */
interface DragParts {
  readonly surface: HTMLElement;
  readonly store: CanvasStore;
  readonly scene: Scene;
  readonly viewport: Viewport;
  readonly actions: CanvasActions;
  readonly editing: Editing;
}

/** What happens between press and release. */
interface Drag {
  /** Also called for the last position, before `drop`. */
  move(at: Point, event: PointerEvent): void;
  drop(event: PointerEvent): void;
  cancel(): void;
}

/** Handles mouse, pen and touch: click, drag, wheel and pinch. */
export class PointerInput {
  readonly #parts: PointerParts;
  readonly #fingers = new Map<number, Point>();
  #drag: { readonly from: Point; readonly drag: Drag; isMoving: boolean } | undefined;

  constructor(parts: PointerParts) {
    this.#parts = parts;
    const { surface } = parts;
    surface.addEventListener('pointerdown', (event) => this.#press(event));
    surface.addEventListener('pointermove', (event) => this.#move(event));
    surface.addEventListener('pointerup', (event) => this.#release(event));
    surface.addEventListener('pointercancel', () => this.cancel());
    surface.addEventListener('dblclick', (event) => this.#doubleClick(event));
    surface.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    surface.addEventListener('contextmenu', (event) => this.#contextMenu(event));
  }

  /** Cancels a drag; returns false if there is none. */
  cancel(): boolean {
    this.#fingers.clear();
    if (this.#drag === undefined) return false;
    this.#drag.drag.cancel();
    this.#drag = undefined;
    return true;
  }

  #press(event: PointerEvent): void {
    if (!isOfDrawing(event.target) || event.button === 2) return;
    this.#parts.surface.focus({ preventScroll: true });
    this.#parts.surface.setPointerCapture(event.pointerId);
    this.#fingers.set(event.pointerId, pointOf(event));
    if (this.#fingers.size > 1) {
      this.#drag?.drag.cancel();
      this.#drag = undefined;
      return;
    }
    const node = this.#nodeAt(event.target);
    const isPort = event.target.matches('.port, .port-reach');
    const isPlus = event.target.closest('.plus') !== null;
    const edge = this.#edgeAt(event.target);
    const source = isPlus ? this.#nodeOfPath(edge?.source) : node;
    const drag =
      event.button === 1
        ? pan(this.#parts, event)
        : source !== undefined && (isPort || isPlus)
          ? dragConnection(this.#parts, source, isPlus ? edge?.action : undefined)
          : node !== undefined && !event.target.closest('.chevron')
            ? moveNode(this.#parts, node, event)
            : pan(this.#parts, event);
    this.#drag = { from: pointOf(event), drag, isMoving: false };
  }

  #move(event: PointerEvent): void {
    const before = this.#fingers.get(event.pointerId);
    if (this.#fingers.size === 2 && before !== undefined) this.#pinch(event, before);
    if (before !== undefined) this.#fingers.set(event.pointerId, pointOf(event));
    const { from, drag, isMoving } = this.#drag ?? {};
    if (from === undefined || drag === undefined || this.#drag === undefined) return;
    const isFar = Math.hypot(event.clientX - from.x, event.clientY - from.y) >= DRAG_PIXELS;
    if (!isMoving && !isFar) return;
    this.#drag.isMoving = true;
    drag.move(this.#parts.viewport.toDrawing(pointOf(event)), event);
  }

  #release(event: PointerEvent): void {
    this.#fingers.delete(event.pointerId);
    const dragged = this.#drag;
    this.#drag = undefined;
    if (dragged === undefined) return;
    if (dragged.isMoving) dragged.drag.drop(event);
    else {
      dragged.drag.cancel();
      this.#click(event);
    }
  }

  #click(event: PointerEvent): void {
    const { actions, editing } = this.#parts;
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const [node, edge] = [this.#nodeAt(target), this.#edgeAt(target)];
    const source = this.#nodeOfPath(edge?.source);
    if (node !== undefined && target?.closest('.chevron')) actions.toggleOpen(node.path);
    else if (edge !== undefined && source !== undefined && target?.closest('.plus')) {
      actions.select({ type: 'edge', key: edge.key });
      void editing.connect(source, { action: edge.action });
    } else if (node !== undefined && target?.matches('.port, .port-reach')) void editing.connect(node);
    else if (node !== undefined && (event.shiftKey || event.ctrlKey || event.metaKey)) actions.toggleMark(node.path);
    else if (node !== undefined) this.#selectOnly({ type: 'node', path: node.path });
    else if (edge !== undefined) this.#selectOnly({ type: 'edge', key: edge.key });
    else if (!actions.clearMarks()) actions.select(undefined);
  }

  #selectOnly(selected: Parameters<CanvasActions['select']>[0]): void {
    this.#parts.actions.clearMarks();
    this.#parts.actions.select(selected);
  }

  #doubleClick(event: MouseEvent): void {
    const { actions, editing } = this.#parts;
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const edge = this.#edgeAt(target);
    if (target?.closest('.chevron')) return;
    if (edge !== undefined && target?.closest('.label')) void editing.renameAction(edge);
    else if (edge !== undefined || this.#nodeAt(target) !== undefined) actions.reveal(false);
  }

  #contextMenu(event: MouseEvent): void {
    event.preventDefault();
    const target = event.target instanceof Element ? event.target : null;
    const [node, edge] = [this.#nodeAt(target), this.#edgeAt(target)];
    const { actions, store, surface, openMenu } = this.#parts;
    if (node !== undefined && !store.state.marked.has(node.path)) actions.select({ type: 'node', path: node.path });
    else if (edge !== undefined) actions.select({ type: 'edge', key: edge.key });
    const { left, top } = surface.getBoundingClientRect();
    openMenu({ x: event.clientX - left, y: event.clientY - top });
  }

  /** Trackpads and wheels scroll; with Ctrl, which browsers also report for a pinch, they zoom. */
  #wheel(event: WheelEvent): void {
    if (!isOfDrawing(event.target)) return;
    event.preventDefault();
    const { viewport } = this.#parts;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      // Steps of a wheel are large and those of a pinch small; neither may jump.
      const delta = Math.max(-120, Math.min(120, event.deltaY * unit)) * (Math.abs(event.deltaY) < 20 ? 4 : 1);
      viewport.zoomBy(Math.exp(-delta * WHEEL_SPEED), pointOf(event));
    } else if (event.shiftKey) viewport.panBy(-event.deltaY * unit, 0);
    else viewport.panBy(-event.deltaX * unit, -event.deltaY * unit);
  }

  #pinch(event: PointerEvent, before: Point): void {
    const other = [...this.#fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) return;
    const now = pointOf(event);
    const [was, is] = [
      Math.hypot(before.x - other.x, before.y - other.y),
      Math.hypot(now.x - other.x, now.y - other.y),
    ];
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    if (was > 0 && is > 0) this.#parts.viewport.zoomBy(is / was, middle);
    this.#parts.viewport.panBy((now.x - before.x) / 2, (now.y - before.y) / 2);
  }

  #nodeAt(target: Element | null): DrawnNode | undefined {
    return this.#nodeOfPath(target?.closest('[data-path]')?.getAttribute('data-path') ?? undefined);
  }

  #nodeOfPath(path: string | undefined): DrawnNode | undefined {
    return nodeAt(this.#parts.store.state.drawing, path);
  }

  #edgeAt(target: Element | null): DrawnEdge | undefined {
    const key = target?.closest('[data-key]')?.getAttribute('data-key') ?? undefined;
    return edgeAt(this.#parts.store.state.drawing, key);
  }
}

function isOfDrawing(target: EventTarget | null): target is Element {
  return target instanceof Element && (target.closest('.scene') !== null || target.classList.contains('surface'));
}

/** Moves the view. */
function pan({ viewport, surface }: DragParts, start: PointerEvent): Drag {
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
function moveNode({ viewport, actions, scene }: DragParts, node: DrawnNode, start: PointerEvent): Drag {
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
function dragConnection(
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
