import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameEvent, ReplayFilter } from '../../../../src/remote/events/replay.ts';
import type { SpooledEvent } from '../../../../src/jobs/log/spool.ts';

const spooled = (text: string, id?: string): SpooledEvent => ({
  seq: 1,
  at: '2026-01-01T00:00:00.000Z',
  event: 'log',
  data: { text },
  ...(id !== undefined && { id }),
});

/** What happens to the events of a reconnection, by their texts and IDs, after those in the spool. */
async function judge(
  spool: readonly SpooledEvent[],
  events: readonly (readonly [text: string, id?: string])[],
): Promise<string[]> {
  async function* stored(): AsyncGenerator<SpooledEvent, void> {
    yield* await Promise.resolve(spool);
  }
  const filter = new ReplayFilter(stored(), spool.at(-1)?.id, isSameEvent);
  const verdicts: string[] = [];
  for (const [text, id] of events) verdicts.push(await filter.judge({ event: 'log', data: { text }, id }));
  await filter.dispose();
  return verdicts;
}

const NUMBERED = [spooled('a', '1'), spooled('b', '2'), spooled('c', '3')];

test('a service that starts again repeats what is stored, and the rest is new', async () => {
  const again = await judge(NUMBERED, [
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
    ['d', '4'],
  ]);
  assert.deepEqual(again, ['skip', 'skip', 'skip', 'new']);
  assert.deepEqual(await judge([spooled('a')], [['a'], ['a']]), ['skip', 'new']);
});

test('a service that continues may repeat the last event, and repeats none without leaving a gap', async () => {
  assert.deepEqual(
    await judge(NUMBERED, [
      ['c', '3'],
      ['d', '4'],
    ]),
    ['skip', 'new'],
  );
  assert.deepEqual(
    await judge(NUMBERED, [
      ['b', '2'],
      ['c', '3'],
      ['d', '4'],
    ]),
    ['skip', 'skip', 'new'],
  );
  assert.deepEqual(
    await judge(NUMBERED, [
      ['d', '4'],
      ['e', '5'],
    ]),
    ['new', 'new'],
  );
});

test('the same output with another ID is new', async () => {
  assert.deepEqual(await judge([spooled('a', '1')], [['a', '2']]), ['new']);
  assert.deepEqual(await judge([spooled('a', 'x-1')], [['a', 'x-2']]), ['new']);
});

test('IDs that are not numbers show that nothing is missing, but have no order', async () => {
  const opaque = [spooled('a', 'x-1'), spooled('b', 'x-2')];
  assert.deepEqual(
    await judge(opaque, [
      ['c', 'x-3'],
      ['d', 'x-0'],
    ]),
    ['new', 'new'],
  );
  assert.deepEqual(await judge(NUMBERED, [['d', 'x-4']]), ['new']);
  assert.deepEqual(await judge([spooled('a', 'x-1')], [['b', '1']]), ['new']);
});

test('without IDs, events that differ from the first may follow a gap', async () => {
  assert.deepEqual(await judge([spooled('a'), spooled('b')], [['c'], ['d']]), ['gap', 'new']);
  assert.deepEqual(await judge([spooled('a'), spooled('b')], [['a'], ['c']]), ['skip', 'gap']);
  assert.deepEqual(await judge([], [['a'], ['b']]), ['new', 'new']);
});

test('where opaque IDs do not show what comes next, events may be missing', async () => {
  const opaque = [spooled('a', 'x1'), spooled('b', 'x2')];
  // It started again, and then something else follows than is stored.
  assert.deepEqual(
    await judge(opaque, [
      ['a', 'x1'],
      ['c', 'x3'],
      ['d', 'x4'],
    ]),
    ['skip', 'gap', 'new'],
  );
  assert.deepEqual(await judge(opaque, [['c', 'x3']]), ['new'], 'it continues after the last ID');
  assert.deepEqual(await judge(opaque, [['c']]), ['gap'], 'an event without an ID');
  assert.deepEqual(await judge([spooled('a')], [['b', 'x2']]), ['gap'], 'no ID is known');
});
