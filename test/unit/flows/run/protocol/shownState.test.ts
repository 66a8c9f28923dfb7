import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showChanges, showState } from '../../../../../src/flows/run/protocol/shownState.ts';

test('a change is shown with what was there before', () => {
  const before = { count: 1, list: [{ text: 'a' }], old: true };
  assert.deepEqual(
    showChanges(before, [
      { op: 'set', path: ['count'], value: 2 },
      { op: 'set', path: ['list', 0, 'text'], value: { $: 'bigint', text: '12n' } },
      { op: 'set', path: ['fresh', 'deep'], value: null },
      { op: 'remove', path: ['old'] },
    ]),
    [
      { path: ['count'], before: '1', after: '2' },
      { path: ['list', '0', 'text'], before: '"a"', after: '"‹12n›"' },
      { path: ['fresh', 'deep'], before: undefined, after: 'null' },
      { path: ['old'], before: 'true', after: undefined },
    ],
  );
});

test('a new key may be called like something that every object has', () => {
  assert.deepEqual(showChanges({}, [{ op: 'set', path: ['constructor'], value: 1 }]), [
    { path: ['constructor'], before: undefined, after: '1' },
  ]);
});

test('a long value is cut and says by how much', () => {
  const [change] = showChanges({}, [{ op: 'set', path: ['text'], value: 'x'.repeat(2_998) }]);
  assert.match(change?.after ?? '', /^"x{1999}… \(1000 characters more\)$/);
  assert.match(showState({ text: 'x'.repeat(30_000) }), /characters more\)$/);
});
