import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endId, innerOffset, layoutFlow, pathBelow, stubId, stubsOf } from '../../../../src/flows/layout/flowLayout.ts';
import { boxesOverlap } from '../../../../src/flows/layout/edgeLabels.ts';
import { cutText, pixelWidth } from '../../../../src/flows/layout/pixelWidth.ts';
import { drawnFlow } from '../drawnFlows.ts';

const inner = drawnFlow('lookUp', ['search -> notes', 'notes -> .']);
const outer = drawnFlow(
  'research',
  ['decide -search-> look', 'look -> decide', 'decide -enough-> write', 'write -> .'],
  {
    decide: { actions: ['give up'] },
    look: { type: 'flow', flow: 'lookUp' },
  },
);
const flows = [outer, inner];

test('a flow is laid out with its ends and with the actions that lead nowhere', () => {
  const { layout, stubs } = layoutFlow(outer, { flows });
  assert.deepEqual(stubs, [{ node: 'decide', action: 'give up' }]);
  assert.deepEqual(stubs, stubsOf(outer));
  const [end] = outer.edges.filter(({ target }) => target === null);
  assert.ok(end && layout.nodes.has(endId(end)) && layout.edges.has(end.id));
  for (const stub of stubs) assert.ok(layout.nodes.has(stubId(stub)) && layout.edges.has(stubId(stub)));
});

test('an open nested flow lies inside the box of its node', () => {
  const shown = layoutFlow(outer, { flows, isOpen: (path) => path === pathBelow('', 'look') });
  const [box, nested] = [shown.layout.nodes.get('look'), shown.inner.get('look')];
  assert.ok(box && nested);
  const offset = innerOffset(box, nested);
  for (const { x, y, width, height } of nested.layout.nodes.values()) {
    assert.ok(x + offset.x >= box.x && x + offset.x + width <= box.x + box.width);
    assert.ok(y + offset.y >= box.y && y + offset.y + height <= box.y + box.height);
  }
  const others = [...shown.layout.nodes.values()].filter(({ id }) => id !== 'look');
  for (const other of others) assert.ok(!boxesOverlap(box, other));
});

test('a flow that contains itself is opened once, not for ever', () => {
  const endless = drawnFlow('endless', ['again -> .'], { again: { type: 'flow', flow: 'endless' } });
  assert.equal(layoutFlow(endless, { flows: [endless], isOpen: () => true }).inner.size, 0);
});

test('opening a nested flow and closing it again moves no other node sideways', () => {
  const before = layoutFlow(outer, { flows });
  const open = layoutFlow(outer, { flows, isOpen: () => true, previous: before });
  const closed = layoutFlow(outer, { flows, previous: open });
  assert.equal(closed.layout.nodes.get('decide')?.x, before.layout.nodes.get('decide')?.x);
});

test('a text is cut with an ellipsis where it does not fit', () => {
  assert.equal(cutText('Short', 12, 100), 'Short');
  const cut = cutText('Donaudampfschifffahrtsgesellschaftskapitän', 12, 100);
  assert.ok(cut.endsWith('…') && pixelWidth(cut, 12) <= 100);
});
