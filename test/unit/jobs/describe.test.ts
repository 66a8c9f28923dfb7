import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeJob, describeOutcome, describeResultCount } from '../../../src/jobs/describe.ts';
import { jobIcon } from '../../../src/jobs/ledger/jobIcon.ts';
import { describeForecast } from '../../../src/jobs/submit/estimate.ts';
import { hasSucceeded, isActive, isOver, type JobRecord, shortId } from '../../../src/jobs/ledger/record.ts';
import { makeRecord } from './fixtures.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const now = Date.parse(at(252));
const running = { state: 'running', startedAt: at(12), machineClass: 'a10g', creditsPerMinute: 0.3 } as const;

const rows: readonly [string, Partial<JobRecord>, string][] = [
  ['an upload', { state: 'sending', jobId: null, machineClass: null }, 'sending'],
  ['a queued job', { state: 'queued', machineClass: 'a10g' }, 'queued · a10g'],
  ['a running job', running, 'running 4 min · a10g · 1.2 cr'],
  ['a running job without a known rate', { ...running, creditsPerMinute: null }, 'running 4 min · a10g'],
  [
    'a job that ended well',
    { ...running, state: 'succeeded', finishedAt: at(54), exitCode: 0, creditsCharged: 0.25 },
    'succeeded 42 s · a10g · 0.25 cr',
  ],
  [
    'a failed job: its last words',
    {
      ...running,
      state: 'failed',
      exitCode: 1,
      finishedAt: at(54),
      reason: 'exit code 1',
      lastLogLine: "KeyError: 'lr'",
    },
    "exit 1: KeyError: 'lr'",
  ],
  [
    'a failed job whose service gives a reason',
    { state: 'failed', exitCode: 127, reason: 'python3 is not installed', lastLogLine: 'x' },
    'exit 127: python3 is not installed',
  ],
  [
    'a failed job whose script did not fail',
    { state: 'failed', exitCode: 0, reason: 'The results could not be packed.', lastLogLine: 'x' },
    'The results could not be packed.',
  ],
  ['a failed job of which nothing is known', { state: 'failed' }, 'failed'],
  [
    'a job over its time limit',
    { ...running, state: 'timed_out', finishedAt: at(612), maxRuntime: 600, creditsCharged: 3 },
    'stopped at its time limit of 10 min · a10g · 3 cr',
  ],
  [
    'a lost job',
    { state: 'lost', reason: 'the service no longer knows this job' },
    'lost: the service no longer knows this job',
  ],
  ['an unknown outcome', { state: 'unknown', jobId: null, reason: null }, 'unknown: check before you send it again'],
  ['a word of another service', { state: 'Hibernating', machineClass: 'x' }, 'Hibernating · x'],
  [
    'hostile text',
    { state: 'failed', exitCode: 1, lastLogLine: '\u001b]0;title\u0007bad\u001b[31m\u202e\n\rline' },
    'exit 1: bad line',
  ],
];
for (const [name, fields, text] of rows) {
  test(`the row of ${name}: ${text}`, () => assert.equal(describeJob(makeRecord(fields), now), text));
}

test('a clock of the service that runs ahead shows no negative time', () => {
  assert.equal(describeJob(makeRecord({ ...running, startedAt: at(300) }), now), 'running 0.0 s · a10g');
});

test('the last line has the result, duration, credits and location of the results', () => {
  const good = makeRecord({ ...running, state: 'succeeded', exitCode: 0, finishedAt: at(54), creditsCharged: 1.2 });
  assert.equal(
    describeOutcome(good, 'results in /home/ada'),
    'succeeded after 42 s · 1.2 credits · results in /home/ada',
  );
  const bad = makeRecord({ ...running, state: 'failed', exitCode: 2, finishedAt: at(54), lastLogLine: 'boom' });
  assert.equal(describeOutcome(bad), 'failed (exit 2: boom) after 42 s');
});

test('results are counted as new and changed files, as far as that is known', () => {
  const text = (files: number, added: number | null) => describeResultCount({ results: { files, added } });
  assert.equal(text(4, 3), '3 new files, 1 changed');
  assert.equal(text(1, 1), '1 new file');
  assert.equal(text(2, 0), '2 changed files');
  assert.equal(text(12_345, null), '12,345 results');
  assert.equal(text(0, 0), 'no results');
  assert.equal(describeResultCount({ results: null }), undefined);
});

test('a forecast says about, and of at most', () => {
  assert.equal(describeForecast(makeRecord(running), now), 'about 1.2 of at most 3 credits');
  assert.equal(describeForecast(makeRecord({ ...running, creditsPerMinute: null }), now), null);
});

test('the end is recognised by words, by a time and by an exit code', () => {
  assert.equal(isOver(makeRecord({ state: 'running' })), false);
  assert.equal(isOver(makeRecord({ state: 'COMPLETED' })), true);
  assert.equal(isOver(makeRecord({ state: 'evicted', finishedAt: at(1) })), true);
  assert.equal(isOver(makeRecord({ state: 'evicted', exitCode: 137 })), true);
  assert.equal(isActive(makeRecord({ state: 'sending', jobId: null })), false);
  assert.equal(hasSucceeded(makeRecord({ state: 'done', exitCode: 3 })), false);
  assert.equal(jobIcon(makeRecord({ state: 'evicted', finishedAt: at(1) })), 'failed');
  assert.equal(jobIcon(makeRecord({ state: 'canceled', finishedAt: at(1) })), 'cancelled');
});

test('a short id is the service’s own, unless it is long or missing', () => {
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: 'j-12' }), 'j-12');
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: 'x'.repeat(40) }), 'aaaaaaaa');
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: null }), 'aaaaaaaa');
});
