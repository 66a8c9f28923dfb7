import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppendSignals } from '../../../../../src/service/store/jobs/eventTable.ts';

test('a job wakes each of its own readers, until that reader has gone', () => {
  const signals = new AppendSignals();
  const seen: string[] = [];
  const read = (name: string, jobId: string) => signals.on(jobId, (last) => seen.push(`${name}${last}`));
  signals.fire('a', 1);
  const [one] = [read('one', 'a'), read('two', 'a'), read('other', 'b')];
  signals.fire('a', 2);
  one.dispose();
  signals.fire('a', 3);
  signals.fire('b', 4);
  assert.deepEqual(seen, ['one2', 'two2', 'two3', 'other4']);
  signals.dispose();
  signals.fire('a', 5);
  assert.equal(seen.length, 4);
});

test('a reader that leaves twice does not disconnect the next one', () => {
  const signals = new AppendSignals();
  const first = signals.on('a', () => {});
  first.dispose();
  const seen: number[] = [];
  signals.on('a', (last) => seen.push(last));
  first.dispose();
  signals.fire('a', 1);
  assert.deepEqual(seen, [1]);
});
