import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '../../../../../src/flows/run/protocol/runEvent.ts';
import { applyChanges, stateChanges } from '../../../../../src/flows/run/protocol/stateChange.ts';
import { isSpecial, type StateView, stateViewOf } from '../../../../../src/flows/run/protocol/stateView.ts';

test('what JSON cannot hold is shown as such', () => {
  const cyclic: Record<string, unknown> = { name: 'a' };
  cyclic['self'] = cyclic;
  class Ship {
    readonly name = 'Vasa';
  }
  const view = stateViewOf({
    big: 12n,
    cyclic,
    nothing: undefined,
    call: () => 1,
    when: new Date(0),
    names: new Map([['a', 1]]),
    ship: new Ship(),
    not: Number.NaN,
    $: 'own',
  });
  assert.deepEqual(view, {
    big: { $: 'bigint', text: '12n' },
    cyclic: { name: 'a', self: { $: 'cycle', text: 'shared.cyclic' } },
    nothing: { $: 'undefined', text: 'undefined' },
    call: { $: 'function', text: 'call' },
    when: { $: 'date', text: '1970-01-01T00:00:00.000Z' },
    names: { $: 'map', text: 'Map(1)', value: [['a', 1]] },
    ship: { $: 'class', text: 'Ship', value: { name: 'Vasa' } },
    not: { $: 'number', text: 'NaN' },
    $$: 'own',
  });
});

test('a getter that throws, a proxy that throws and a list without end do not break the view', () => {
  const angry = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error('no');
      },
    },
  );
  const view = stateViewOf({
    get broken(): never {
      throw new Error('gone');
    },
    angry,
  });
  assert.deepEqual(view, { broken: { $: 'unreadable', text: 'gone' }, angry: { $: 'unreadable', text: 'no' } });
});

test('a huge state is cut at every side, and says where', () => {
  const view = stateViewOf({ text: 'x'.repeat(1e6), items: Array.from({ length: 1e6 }, (_, index) => index) });
  assert.ok(JSON.stringify(view).length < 20_000);
  assert.ok(typeof view === 'object' && view !== null && 'text' in view && 'items' in view);
  const { text, items } = view as { text: StateView; items: readonly StateView[] };
  assert.ok(isSpecial(text) && text['size'] === 1e6);
  assert.deepEqual(items.at(-1), { $: 'more', text: '999800 more' });
});

test('secrets do not get into a view', () => {
  const clean = (text: string): string => text.replaceAll('hunter2', '***');
  assert.deepEqual(stateViewOf({ login: 'me:hunter2' }, { clean }), { login: 'me:***' });
});

test('the changes between two states turn the one into the other', () => {
  const states: StateView[] = [
    { notes: [], topic: 'harbours' },
    { notes: ['a'], topic: 'harbours', query: null },
    { notes: ['a', 'b', 'c'], topic: 'harbours', deep: { list: [{ n: 1 }, { n: 2 }] } },
    { notes: ['b'], topic: 'ships', deep: { list: [{ n: 2 }] } },
    [],
    { notes: stateViewOf(1n) },
    'text',
  ];
  for (const before of states) {
    for (const after of states) assert.deepEqual(applyChanges(before, stateChanges(before, after)), after);
  }
});

test('a change names the key and not the whole state', () => {
  const before = { notes: ['a'], topic: 'harbours' };
  const changes = stateChanges(before, { notes: ['a', 'b'], topic: 'harbours' });
  assert.deepEqual(changes, [{ op: 'set', path: ['notes', 1], value: 'b' }]);
  const event: RunEvent = { run: 1, type: 'state', path: 'Research/TakeNotes', visit: 1, at: 5, changes };
  assert.deepEqual(JSON.parse(JSON.stringify(event)), event);
});
