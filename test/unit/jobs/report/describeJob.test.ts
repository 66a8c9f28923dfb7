import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeCommit,
  describeJob,
  describeOutcome,
  describeResultCount,
} from '../../../../src/jobs/report/describeJob.ts';
import { jobIcon } from '../../../../src/jobs/ledger/jobIcon.ts';
import { describeForecast } from '../../../../src/jobs/plan/estimate.ts';
import {
  elapsedSeconds,
  hasSucceeded,
  isActive,
  isOver,
  type JobRecord,
  shortId,
} from '../../../../src/jobs/ledger/record.ts';
import { makeRecord } from '../fixtures.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const now = Date.parse(at(252));
const running = { state: 'running', startedAt: at(12), machineClass: 'a10g', creditsPerMinute: 0.3 } as const;

/** A time of that day in the time zone of this machine. */
function localTime(utc: string): string {
  const time = { hour: '2-digit', minute: '2-digit' } as const;
  return new Date(`2026-01-01T${utc}Z`).toLocaleTimeString('en-GB', time);
}

const rows: readonly [string, Partial<JobRecord>, string][] = [
  ['an upload', { state: 'sending', jobId: null, machineClass: null }, 'sending'],
  ['a queued job', { state: 'queued', machineClass: 'a10g' }, 'queued · a10g'],
  [
    'a queued job that waits for a GPU',
    {
      state: 'queued',
      machineClass: 'a10g',
      reason: 'The job waits for 1 GPU: 2 of 2 in use, the first free by 14:20 UTC.',
    },
    `queued · waits for 1 GPU: 2 of 2 in use, the first free by ${localTime('14:20')} · a10g`,
  ],
  [
    'a queued job that waits for cores which are kept',
    { state: 'queued', machineClass: 'big', reason: 'The job waits for 8 cores: kept for a job before it.' },
    'queued · waits for 8 cores: kept for a job before it · big',
  ],
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

test('a short id is the service’s own or the start of that, unless it says nothing or is missing', () => {
  // As `farwharf jobs` lists it, so that a result `name (job 2619f754).txt` can be found there.
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: '2619f75435cf4249b7fd' }), '2619f754');
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: '20261127212444910001' }), 'aaaaaaaa');
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: `2619f754-${'x'.repeat(20)}` }), 'aaaaaaaa');
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: 'j-12' }), 'j-12');
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: 'x'.repeat(40) }), 'aaaaaaaa');
  assert.equal(shortId({ id: 'aaaaaaaa-bbbb', jobId: null }), 'aaaaaaaa');
});

test('a commit is said with the files that differ from it', () => {
  const gitCommit = '0123456789abcdef';
  assert.deepEqual(
    [null, 0, 1, 2, 1_234].map((gitChanges) => describeCommit({ gitCommit, gitChanges })),
    [
      '0123456789',
      '0123456789',
      '0123456789 and 1 changed file',
      '0123456789 and 2 changed files',
      '0123456789 and 1,234 changed files',
    ],
  );
  assert.equal(describeCommit({ gitCommit: null, gitChanges: 3 }), undefined);
});

test('beside an icon the time comes first, and progress is part of a row while the job runs', () => {
  const record = makeRecord({ ...running, lastLogLine: ' 50%|#####     | 5/10 [00:10<00:10]' });
  const [plain, beside] = [describeJob(record, now), describeJob(record, now, { isBesideIcon: true })];
  assert.match(plain, /^running 4 min · 50 %.* · a10g · 1\.2 cr$/);
  assert.match(beside, /^4 min · 50 %.* · running · a10g · 1\.2 cr$/);
  assert.equal(describeJob({ ...record, state: 'queued' }, now).includes('50 %'), false);
  assert.equal(describeJob(makeRecord({ machineClass: null }), now, { isBesideIcon: true }), 'queued');
});

test('a job that waits for an answer says its question, and one without a cost says none', () => {
  const waiting = { path: 'ask', question: 'Which one?\u001b[2J\nNow.' };
  const record = makeRecord({ state: 'succeeded', exitCode: 0, finishedAt: at(54), waiting });
  assert.equal(describeJob(record, now), 'waits for an answer: Which one? Now.');
  assert.equal(describeJob({ ...record, answeredBy: 'job' }, now).startsWith('waits'), false);
  assert.equal(describeJob(makeRecord({ ...running, startedAt: at(252) }), now), 'running 0.0 s · a10g');
  const free = { ...running, state: 'succeeded', finishedAt: at(54), exitCode: 0, creditsCharged: 0 } as const;
  assert.equal(describeJob(makeRecord(free), now), 'succeeded 42 s · a10g · 0 cr');
  const unpriced = { ...free, creditsPerMinute: null, unpricedCpus: 100, unpricedGpus: 1 };
  assert.equal(describeJob(makeRecord(unpriced), now), 'succeeded 42 s · a10g · 1.17 core-hours, 0.01 GPU-hours');
  assert.equal(describeOutcome(makeRecord(unpriced)), 'succeeded after 42 s · 1.17 core-hours, 0.01 GPU-hours');
  assert.equal(describeOutcome(makeRecord(free)), 'succeeded after 42 s · 0 credits');
});

test('a reason that only repeats the exit code gives way to the last line, and a long one is cut', () => {
  const failed = (fields: Partial<JobRecord>): string => describeJob(makeRecord({ state: 'failed', ...fields }), now);
  for (const reason of ['exit 1', 'Exited with code 1.', 'exit code 1', 'failed', 'Failed.', 'exit status: 1']) {
    assert.equal(
      failed({ exitCode: 1, reason, lastLogLine: 'boom' }),
      /: 1/.test(reason) ? `exit 1: ${reason}` : 'exit 1: boom',
      reason,
    );
  }
  for (const reason of ['exit 1 of the gate', 'job failed', 'exiting']) {
    assert.equal(failed({ exitCode: 1, reason, lastLogLine: 'boom' }), `exit 1: ${reason}`);
  }
  assert.equal(failed({ exitCode: null, reason: 'failed', lastLogLine: 'boom' }), 'boom');
  assert.equal(failed({ exitCode: 0, reason: null, lastLogLine: 'boom' }), 'exit 0: boom');
  assert.equal(failed({ exitCode: 1, reason: null, lastLogLine: null }), 'exit 1');
  assert.equal(failed({ reason: 'x'.repeat(160) }), 'x'.repeat(160));
  assert.equal(failed({ reason: 'x'.repeat(161) }), `${'x'.repeat(159)}…`);
  assert.equal(failed({ reason: ' a\t\r\nb ' }), 'a b');
});

test('the last line says how a job ended, whatever its end was', () => {
  const outcome = (fields: Partial<JobRecord>): string => describeOutcome(makeRecord(fields));
  assert.equal(
    outcome({ ...running, state: 'timed_out', finishedAt: at(612), maxRuntime: 600 }),
    'stopped at its time limit of 10 min',
  );
  assert.equal(outcome({ state: 'lost', reason: 'nobody knows' }), 'lost: nobody knows');
  assert.equal(outcome({ state: 'lost', reason: null }), 'lost');
  assert.equal(
    outcome({ ...running, state: 'cancelled', finishedAt: at(54), reason: 'by you' }),
    'cancelled after 42 s',
  );
  assert.equal(outcome({ state: 'shut_down_now' }), 'shut down now');
});

test('a time is unknown before the start, and after an end whose time nobody knows', () => {
  const elapsed = (fields: Partial<JobRecord>) => elapsedSeconds(makeRecord(fields), now);
  assert.equal(elapsed({ startedAt: null }), null);
  assert.equal(elapsed({ state: 'running', startedAt: at(12) }), 240);
  assert.equal(elapsed({ state: 'failed', startedAt: at(12) }), null);
  assert.equal(elapsed({ state: 'failed', startedAt: at(12), finishedAt: at(54) }), 42);
  assert.equal(elapsed({ state: 'failed', startedAt: 'noon', finishedAt: at(54) }), null);
  assert.equal(elapsed({ state: 'failed', startedAt: at(54), finishedAt: at(12) }), 0);
});

test('a clock that is wrong makes no job run for longer than since it was sent', () => {
  const elapsed = (fields: Partial<JobRecord>) => elapsedSeconds(makeRecord({ state: 'running', ...fields }), now);
  const hours = (count: number): string => new Date(now + count * 3_600_000).toISOString();
  // A day ahead of the service.
  assert.equal(elapsed({ createdAt: at(240), startedAt: hours(-24) }), 12);
  // A day behind it.
  assert.equal(elapsed({ createdAt: at(240), startedAt: hours(24) }), null);
  assert.equal(describeJob(makeRecord({ state: 'running', startedAt: hours(24) }), now), 'running · local');
  // A few seconds behind it.
  assert.equal(elapsed({ createdAt: at(240), startedAt: at(255) }), 0);
  // Set right after the job was sent.
  assert.equal(elapsed({ createdAt: hours(24), startedAt: at(12) }), 240);
});

test('results of one kind are counted as that kind', () => {
  const text = (files: number, added: number | null) => describeResultCount({ results: { files, added } });
  assert.deepEqual(
    [text(1, null), text(1, 0), text(2, 2), text(3, 1)],
    ['1 result', '1 changed file', '2 new files', '1 new file, 2 changed'],
  );
});
