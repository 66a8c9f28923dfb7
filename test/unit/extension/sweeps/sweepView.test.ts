import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { readParameters } from '../../../../src/extension/sweeps/parameterText.ts';
import { groupJobs } from '../../../../src/extension/jobs/store/jobGroups.ts';
import { sweepView } from '../../../../src/extension/sweeps/sweepView.ts';
import type { JobRecord } from '../../../../src/jobs/ledger/record.ts';
import { MetricLines } from '../../../../src/jobs/metrics/metricLines.ts';
import type { Sweep } from '../../../../src/jobs/sweeps/sweep.ts';
import { jobRecord, runningJob } from '../jobs.ts';

const NOW = Date.parse('2026-11-20T12:04:05.000Z');
const ID = randomUUID();

function makeSweep(count: number): Sweep {
  const drafts = Array.from({ length: count }, (_, index) =>
    jobRecord({ id: `job ${index}`, sweep: { id: ID, name: 'search', count, index, parameters: { lr: index / 10 } } }),
  );
  const createdAt = new Date(NOW).toISOString();
  const limits = { concurrency: 2, maxCost: 20, usesContents: true, isCancelled: false };
  return { id: ID, name: 'search', host: 'local', folder: '/home/ada', createdAt, ...limits, drafts };
}

function metricsWith(text: string): MetricLines['series'] {
  const lines = new MetricLines();
  lines.push({ event: 'log', data: { stream: 'stdout', text } });
  return lines.series;
}

test('a sweep whose service does not respond says so, shows what was last seen, and counts no further', () => {
  const sweep = makeSweep(2);
  const [first, second] = sweep.drafts;
  assert.ok(first !== undefined && second !== undefined);
  const host = 'https://gpu.example.org';
  const running: JobRecord = { ...runningJob(), id: second.id, sweep: second.sweep, host };
  const lost = { reason: 'unreachable', since: NOW } as const;
  const at = (now: number) => {
    const lostOf = (id: string) => (id === second.id ? lost : undefined);
    return sweepView(sweep, [first, running], () => new Map(), { metric: undefined, isSending: false, lostOf, now });
  };
  assert.match(at(NOW).summary, / · gpu\.example\.org does not respond$/);
  assert.deepEqual(
    at(NOW).jobs.map(({ state }) => state.replace(/\d.*/, 'TIME')),
    ['succeeded', 'last seen running, TIME'],
  );
  assert.deepEqual(at(NOW + 3_600_000), at(NOW));
});

test('a sweep shows each job with its parameters, state and metrics, and what can be done', () => {
  const sweep = makeSweep(3);
  const [first, second] = sweep.drafts;
  assert.ok(first !== undefined && second !== undefined);
  const running: JobRecord = { ...runningJob(), id: second.id, sweep: second.sweep };
  const metrics = metricsWith('farwharf:metric {"loss": 0.5}\nfarwharf:metric {"loss": NaN}\n');
  const context = { metric: undefined, isSending: false, lostOf: () => undefined, now: NOW };
  const view = sweepView(sweep, [first, running], (id) => (id === second.id ? metrics : new Map()), context);
  assert.match(view.summary, /^1 of 3 done · 1 unfinished · 1 not sent · .* cr of at most 20$/);
  assert.deepEqual([view.metric, view.canCancel, view.canResume, view.canDownload], ['loss', true, true, true]);
  const downloaded: JobRecord = { ...first, downloadedAt: first.createdAt };
  const empty: JobRecord = { ...first, results: { files: 0, added: 0 } };
  for (const record of [downloaded, empty, running])
    assert.equal(sweepView(sweep, [record], () => metrics, context).canDownload, false);
  assert.deepEqual(
    view.jobs.map(({ parameters, state, values, isSent }) => [parameters[0], state, values[0], isSent]),
    [
      ['0', 'succeeded', null, true],
      ['0.1', 'running', null, true],
      ['0.2', 'not sent', null, false],
    ],
  );
  const unpriced: JobRecord = { ...running, creditsPerMinute: null, unpricedCpus: 2 };
  const other = sweepView(sweep, [first, unpriced], () => new Map(), context);
  assert.deepEqual([view.jobs[2]?.seconds, view.jobs[2]?.spent], [null, null]);
  const seconds = (NOW - Date.parse(running.startedAt ?? '')) / 1_000;
  assert.deepEqual([view.jobs[1]?.seconds, other.jobs[1]?.seconds], [seconds, seconds]);
  assert.deepEqual(
    [view.jobs[1]?.spent, other.jobs[1]?.spent],
    [(seconds / 60) * (running.creditsPerMinute ?? 0), (seconds / 3_600) * 2],
  );
  assert.deepEqual(view.jobs[1]?.curve, [
    [1, 0.5],
    [2, null],
  ]);
  const sending = sweepView(sweep, [], () => new Map(), { ...context, isSending: true });
  assert.deepEqual([sending.canCancel, sending.canResume, sending.metric], [true, false, null]);
});

test('500 jobs with long curves stay small enough to send each second', () => {
  const sweep = makeSweep(500);
  const lines = Array.from({ length: 2_000 }, (_, step) => `farwharf:metric {"loss": ${step}}\n`);
  const metrics = metricsWith(lines.join(''));
  const context = { metric: 'loss', isSending: true, lostOf: () => undefined, now: NOW };
  const view = sweepView(sweep, sweep.drafts, () => metrics, context);
  const points = view.jobs.reduce((sum, { curve }) => sum + curve.length, 0);
  assert.ok(points <= 20_000 && points > 10_000, String(points));
});

test('the jobs of a sweep stay in one group', () => {
  const { drafts } = makeSweep(3);
  const old = { createdAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T01:00:00.000Z' };
  const records = drafts.map((draft, index) =>
    index === 1 ? { ...runningJob(), id: draft.id, sweep: draft.sweep } : { ...draft, ...old },
  );
  const groups = groupJobs(records, { now: NOW, grouping: 'day' });
  assert.deepEqual(
    groups.map(({ key, ids }) => [key, ids]),
    [['active', ['job 0', 'job 1', 'job 2']]],
  );
});

test('edited parameters are read as they are shown', () => {
  const before = { lr: 0.1, name: 'a', fast: true };
  assert.deepEqual(readParameters('lr=1e-7 name=b c fast=false', before), {
    parameters: { lr: 1e-7, name: 'b c', fast: false },
  });
  assert.deepEqual(readParameters('name=', before).parameters, { ...before, name: '' });
  assert.match(readParameters('lr=1 nam=x', before).problem ?? '', /no parameter nam\./);
  assert.match(readParameters('oops', before).problem ?? '', /^Enter parameters as name=value/);
});
