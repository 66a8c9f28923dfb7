import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePhase, Timeline } from '../../../../src/jobs/report/jobTimeline.ts';
import { makeRecord } from '../fixtures.ts';

const time = (minutes: number): string => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
const NOW = Date.parse(time(30));

function read(...events: readonly object[]): Timeline {
  const timeline = new Timeline();
  for (const data of events) timeline.push({ seq: 0, at: time(29), event: 'state', data });
  return timeline;
}

test('a job waits for its reasons in turn, starts, and runs until now', () => {
  const timeline = read(
    { state: 'queued', at: time(0) },
    { state: 'queued', at: time(1), reason: 'Resources' },
    { state: 'queued', at: time(5), reason: 'Resources' },
    { state: 'starting', at: time(13) },
    { state: 'running', at: time(14) },
  );
  timeline.push({ seq: 0, at: time(15), event: 'log', data: { state: 'other' } });
  assert.deepEqual(timeline.phases(makeRecord({ state: 'running' }), NOW).map(describePhase), [
    'queued 1 min',
    'queued 12 min: Resources',
    'starting 1 min',
    'running 16 min',
  ]);
});

test('the end of a job takes no time, and clocks that differ make no time negative', () => {
  const timeline = read({ state: 'running', at: time(14) }, { state: 'timed_out', at: time(10), reason: 'too slow' });
  const record = makeRecord({ state: 'timed_out', finishedAt: time(10) });
  assert.deepEqual(timeline.phases(record, NOW).map(describePhase), ['running 0.0 s', 'timed out: too slow']);
});

test('a clock that is wrong makes no phase longer than the job, and hides one that begins in the future', () => {
  const record = makeRecord({ state: 'running', createdAt: time(28) });
  assert.deepEqual(
    read({ state: 'running', at: time(-1_440) })
      .phases(record, NOW)
      .map(describePhase),
    ['running 2 min'],
  );
  assert.deepEqual(
    read({ state: 'running', at: time(1_440) })
      .phases(record, NOW)
      .map(describePhase),
    ['running'],
  );
});

test('a service without states still has the times of the job', () => {
  const times = { createdAt: time(0), startedAt: time(3), finishedAt: null };
  const running = new Timeline().phases(makeRecord({ state: 'RUNNING', ...times }), NOW);
  assert.deepEqual(running.map(describePhase), ['queued 3 min', 'running 27 min']);
  const ended = new Timeline().phases(makeRecord({ state: 'done', ...times, finishedAt: time(9) }), NOW);
  assert.deepEqual(ended.map(describePhase), ['queued 3 min', 'running 6 min', 'done']);
});

test('times that are none are those of receipt, and a service that changes its mind forever is bounded', () => {
  assert.equal(read({ status: 'queued', at: 'noon' }).phases(makeRecord(), NOW)[0]?.at, time(29));
  const many = read(...Array.from({ length: 5_000 }, (_, index) => ({ state: `state ${index}`, at: time(0) })));
  const phases = many.phases(makeRecord(), NOW);
  assert.deepEqual([phases.length, phases.at(-1)?.state], [200, 'state 4999']);
});
