import {
  type DrawnEdge,
  type DrawnNode,
  type Drawing,
  edgeAt,
  levelOf,
  nodeAt,
} from '../../../flows/layout/drawing.ts';
import type { Box } from '../../../flows/layout/shape.ts';
import type { CanvasSelection } from '../state/canvasStore.ts';

export type Direction = 'up' | 'down' | 'left' | 'right';

/** The direction of each arrow key, by its name in keyboard events. */
export const ARROW_KEYS: Readonly<Record<string, Direction>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

const centreX = ({ x, width }: Box): number => x + width / 2;

/** The target of an arrow key: up and down along connections, left and right to the neighbour at the same height. */
export function moveSelection(
  drawing: Drawing,
  selected: CanvasSelection | undefined,
  to: Direction,
): CanvasSelection | undefined {
  if (selected === undefined) return firstOf(drawing);
  if (selected.type === 'edge') return fromEdge(drawing, selected.key, to);
  const at = nodeAt(drawing, selected.path);
  if (at === undefined) return firstOf(drawing);
  const others = to === 'up' || to === 'down' ? followed(drawing, at, to) : sideways(drawing, at, to);
  const nearest = nearestTo(at, others);
  return nearest === undefined ? selected : { type: 'node', path: nearest.path };
}

/** The next connection of the selected node, from the left. */
export function nextEdge(
  drawing: Drawing,
  selected: CanvasSelection | undefined,
  step: 1 | -1,
): CanvasSelection | undefined {
  const current = selected?.type === 'edge' ? edgeAt(drawing, selected.key) : undefined;
  const source = current?.source ?? (selected?.type === 'node' ? selected.path : undefined);
  const edges = edgesFrom(drawing, source);
  if (edges.length === 0) return selected;
  const index = current === undefined ? (step === 1 ? -1 : 0) : edges.indexOf(current);
  const key = edges[(index + step + edges.length) % edges.length]?.key;
  return key === undefined ? selected : { type: 'edge', key };
}

/** The first node of a nested flow, or the node that contains the nested flow. */
export function moveLevel(
  drawing: Drawing,
  selected: CanvasSelection | undefined,
  to: 'in' | 'out',
): CanvasSelection | undefined {
  if (selected?.type !== 'node') return selected;
  if (to === 'out') {
    const outer = nodeAt(drawing, selected.path.slice(0, selected.path.lastIndexOf('/')));
    return outer === undefined ? selected : { type: 'node', path: outer.path };
  }
  const inner = drawing.nodes.filter(({ path, node }) => path === `${selected.path}/${node.id}`);
  const first = inner.find(({ isStart }) => isStart) ?? inner[0];
  return first === undefined ? selected : { type: 'node', path: first.path };
}

function firstOf({ nodes }: Drawing): CanvasSelection | undefined {
  const first = nodes.find(({ isStart }) => isStart) ?? nodes[0];
  return first && { type: 'node', path: first.path };
}

function fromEdge(drawing: Drawing, key: string, to: Direction): CanvasSelection | undefined {
  const edge = edgeAt(drawing, key);
  if (edge === undefined) return firstOf(drawing);
  if (to === 'up') return { type: 'node', path: edge.source };
  if (to === 'down') return edge.target === undefined ? { type: 'edge', key } : { type: 'node', path: edge.target };
  return nextEdge(drawing, { type: 'edge', key }, to === 'right' ? 1 : -1);
}

function followed({ nodes, edges }: Drawing, at: DrawnNode, to: 'up' | 'down'): DrawnNode[] {
  const paths = new Set(
    to === 'down'
      ? edges.filter(({ source }) => source === at.path).map(({ target }) => target)
      : edges.filter(({ target }) => target === at.path).map(({ source }) => source),
  );
  const followers = nodes.filter(({ path }) => path !== at.path && paths.has(path));
  // A connection that points back is followed only if there is no other.
  const ahead = followers.filter(({ box }) => (to === 'down' ? box.y > at.box.y : box.y < at.box.y));
  return ahead.length > 0 ? ahead : followers;
}

function sideways({ nodes }: Drawing, at: DrawnNode, to: 'left' | 'right'): DrawnNode[] {
  const level = levelOf(at);
  return nodes.filter(
    (other) =>
      levelOf(other) === level &&
      other.box.y < at.box.y + at.box.height &&
      at.box.y < other.box.y + other.box.height &&
      (to === 'right' ? other.box.x > at.box.x : other.box.x < at.box.x),
  );
}

function nearestTo({ box }: DrawnNode, others: readonly DrawnNode[]): DrawnNode | undefined {
  const distance = (other: DrawnNode): number =>
    Math.abs(centreX(other.box) - centreX(box)) + Math.abs(other.box.y - box.y) / 4;
  return others.toSorted((a, b) => distance(a) - distance(b))[0];
}

function edgesFrom({ edges }: Drawing, source: string | undefined): DrawnEdge[] {
  return edges.filter((edge) => edge.source === source).sort((a, b) => a.label.x - b.label.x);
}
