import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawFlow } from '../../../src/flows/layout/drawing.ts';
import { layoutFlow } from '../../../src/flows/layout/flowLayout.ts';
import {
  ARROW_KEYS,
  type Direction,
  moveLevel,
  moveSelection,
  nextEdge,
} from '../../../src/webview/canvas/actions/navigation.ts';
import type { CanvasSelection } from '../../../src/webview/canvas/state/canvasStore.ts';
import { drawnFlow } from '../flows/drawnFlows.ts';

const inner = drawnFlow('inner', ['search -> notes', 'notes -> .']);
const outer = drawnFlow('outer', ['a -left-> b', 'a -right-> c', 'b -> d', 'c -> d', 'd -again-> a', 'd -> .'], {
  c: { type: 'flow', flow: 'inner' },
});
const drawing = drawFlow(layoutFlow(outer, { flows: [outer, inner], isOpen: () => true }));

const node = (path: string): CanvasSelection => ({ type: 'node', path });
function walk(from: CanvasSelection | undefined, ...directions: readonly Direction[]): CanvasSelection | undefined {
  return directions.reduce((selected, to) => moveSelection(drawing, selected, to), from);
}

test('the first arrow key selects the start', () => {
  assert.deepEqual(walk(undefined, 'down'), node('a'));
});

test('arrow keys follow the connections down and up, and go to neighbours sideways', () => {
  assert.deepEqual(walk(node('a'), 'down', 'down'), node('d'));
  assert.deepEqual(walk(node('b'), 'right'), node('c'));
  assert.deepEqual(walk(node('c'), 'left', 'up'), node('a'));
});

test('each arrow key leads to where it points', () => {
  const press = (path: string, key: string): CanvasSelection | undefined => {
    const direction = ARROW_KEYS[key];
    assert.ok(direction);
    return walk(node(path), direction);
  };
  assert.deepEqual(press('b', 'ArrowUp'), node('a'));
  assert.deepEqual(press('b', 'ArrowDown'), node('d'));
  assert.deepEqual(press('b', 'ArrowRight'), node('c'));
  assert.deepEqual(press('c', 'ArrowLeft'), node('b'));
});

test('a connection that goes back is followed where no other leads on', () => {
  assert.deepEqual(walk(node('d'), 'down'), node('a'));
});

test('where nothing leads, the selection stays', () => {
  assert.deepEqual(walk(node('a'), 'left'), node('a'));
});

test('the connections of a node are walked from the left, and lead to their ends', () => {
  const first = nextEdge(drawing, node('a'), 1);
  assert.deepEqual(first, { type: 'edge', key: 'a:left' });
  const second = nextEdge(drawing, first, 1);
  assert.deepEqual(second, { type: 'edge', key: 'a:right' });
  assert.deepEqual(nextEdge(drawing, second, 1), first);
  assert.deepEqual(walk(second, 'down'), node('c'));
  assert.deepEqual(walk(second, 'up'), node('a'));
  assert.deepEqual(walk(first, 'right'), second);
});

test('a nested flow is entered at its start, and left to its node', () => {
  assert.deepEqual(moveLevel(drawing, node('c'), 'in'), node('c/search'));
  assert.deepEqual(moveLevel(drawing, node('c/notes'), 'out'), node('c'));
  assert.deepEqual(walk(node('c/search'), 'down'), node('c/notes'));
});
