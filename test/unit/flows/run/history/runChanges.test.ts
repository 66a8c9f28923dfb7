import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runChanges } from '../../../../../src/flows/run/history/runChanges.ts';
import { RunTimeline } from '../../../../../src/flows/run/protocol/runTimeline.ts';
import { type TracedRun, tracedRun } from '../../../webview/tracedRun.ts';

function timelineOf({ events }: TracedRun): RunTimeline {
  const timeline = new RunTimeline({ type: 'run-start', run: 1, name: 'flow', startedAt: 0, state: {} });
  for (const event of events) timeline.push({ run: 1, ...event });
  return timeline;
}

test('nodes and connections that only one of two runs used, and nodes that did something else, are found', () => {
  const before = tracedRun().visit('flow/decide', { action: 'search' }).visit('flow/look').visit('flow/write');
  const after = tracedRun()
    .visit('flow/decide', { action: 'enough', millis: 90 })
    .visit('flow/write', { fails: 'no paper' })
    .visit('flow/check');
  const changes = runChanges(timelineOf(before), timelineOf(after));
  assert.deepEqual(
    changes.map(({ kind, path, action, text }) => [kind, path, action, text].filter(Boolean).join(' ')),
    [
      'changed flow/decide returned "enough", before "search"',
      'added flow/decide enough',
      'removed flow/decide search',
      'changed flow/write no paper, before done',
      'added flow/check',
      'added flow/check default',
      'removed flow/look',
      'removed flow/look default',
    ],
  );
});

test('equal runs that took another time do not differ', () => {
  const run = (millis: number) => timelineOf(tracedRun().visit('flow/a', { millis }).visit('flow/a', { visit: 2 }));
  assert.deepEqual(runChanges(run(1), run(50)), []);
});
