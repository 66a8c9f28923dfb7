import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartStates } from '../../../../../src/flows/run/child/hostedFlow.ts';
import { applyChanges } from '../../../../../src/flows/run/protocol/stateChange.ts';
import type { StateView } from '../../../../../src/flows/run/protocol/stateView.ts';

const shared = { texts: ['a', 'b'], suffix: '!' };

test('an item is shown beside the shared state with what is its own, until the next one begins', () => {
  const parts = new PartStates();
  let view: StateView = shared;
  const step = (path: string, previous: string | undefined, own: object): StateView => {
    view = applyChanges(view, parts.changes(shared, { path, previous }, { ...shared, ...own }));
    return view;
  };
  assert.deepEqual(step('F/E[0]', undefined, { item: 'a' }), { ...shared, 'F/E[0]': { item: 'a' } });
  assert.deepEqual(step('F/E[0]/I[0]', undefined, { item: 'x' }), {
    ...shared,
    'F/E[0]': { item: 'a' },
    'F/E[0]/I[0]': { item: 'x' },
  });
  assert.deepEqual(step('F/E[0]', undefined, { item: 'a', suffix: '?' }), {
    ...shared,
    'F/E[0]': { item: 'a', suffix: '?' },
  });
  assert.deepEqual(step('F/E[1]', 'F/E[0]', { item: 'b' }), { ...shared, 'F/E[1]': { item: 'b' } });
  view = applyChanges(view, parts.clear());
  assert.deepEqual(view, shared);
});

test('only a bounded number of items that run at the same time is shown', () => {
  const parts = new PartStates();
  let view: StateView = shared;
  for (let item = 0; item < 10_000; item += 1) {
    const part = { path: `F/E[${item}]`, previous: undefined };
    view = applyChanges(view, parts.changes(shared, part, { ...shared, item }));
  }
  assert.ok(Object.keys(view ?? {}).length < 100);
  assert.deepEqual(applyChanges(view, parts.clear()), shared);
});
