import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobRow, jobTooltip } from '../../../../../src/extension/jobs/list/jobRow.ts';
import { jobRecord, runningJob } from '../../jobs.ts';

const NOW = Date.parse('2026-11-20T12:04:05.000Z');

test('a running job says for how long, where and at what price', () => {
  const row = jobRow(runningJob(), { now: NOW });
  assert.equal(row.label, 'train.py');
  assert.equal(row.description, '4 min · running · a10g · 1.2 cr · --epochs 3');
  assert.equal(row.icon, 'sync~spin');
  assert.equal(row.contextValue, 'job.running');
});

test('a screen reader hears whole words instead of dots and abbreviations', () => {
  assert.equal(jobRow(runningJob(), { now: NOW }).spoken, 'train.py, 4 min, running, a10g, 1.2 credits, --epochs 3');
  const dear = jobRecord({ state: 'succeeded', creditsCharged: 1_234.5 });
  assert.match(jobRow(dear, { now: NOW }).spoken, /, 1,234\.5 credits/);
});

test('the folder of a script comes after the state and the time, which a narrow view shows', () => {
  const row = jobRow(runningJob({ script: 'experiments/digits/train.py --epochs 3' }), { now: NOW });
  assert.equal(row.label, 'train.py');
  assert.equal(row.description, '4 min · running · a10g · 1.2 cr · experiments/digits · --epochs 3');
});

test('rows of several folders and services name them', () => {
  const context = { now: NOW, hasSeveralFolders: true, hasSeveralHosts: true };
  const { description } = jobRow(runningJob({ script: 'train.py', host: 'https://gpu.example.org' }), context);
  assert.equal(description, '4 min · running · a10g · 1.2 cr · model · gpu.example.org');
});

test('a running job shows its progress right after the time', () => {
  const job = runningJob({ lastLogLine: ' 62%|████  | 62/100 [00:10<04:06,  6.20it/s]' });
  assert.match(jobRow(job, { now: NOW }).description, /^4 min · 62 % · 4 min left · running · a10g/);
});

test('a job that has ended says what came out, before what distinguishes it, until that is downloaded', () => {
  const fields = { script: 'train.py --epochs 3', results: { files: 4, added: 3 }, downloadedAt: null };
  const text = (more: object): string => jobRow(jobRecord({ ...fields, ...more }), { now: NOW }).description;
  assert.match(text({}), / cr · 3 new files, 1 changed · --epochs 3$/);
  assert.match(text({ state: 'failed', exitCode: 1, reason: 'boom' }), /^exit 1: boom · 3 new files, 1 changed · /);
  assert.match(text({ downloadedAt: '2026-11-20T12:00:00.000Z' }), / cr · results downloaded · --epochs 3$/);
  assert.match(text({ results: { files: 0, added: 0 } }), / cr · --epochs 3$/);
});

test('a job whose service does not respond is shown as last seen, does not move, and can be removed', () => {
  const since = new Date(2026, 10, 20, 10, 52).getTime();
  const job = runningJob({ host: 'https://gpu.example.org' });
  const row = jobRow(job, { now: NOW, lost: { reason: 'unreachable', since } });
  assert.match(row.description, /^since 10:52.* · last seen running · gpu\.example\.org does not respond/);
  assert.deepEqual([row.icon, row.color], ['warning', 'problemsWarningIcon.foreground']);
  assert.equal(row.contextValue, 'job.running.unreachable');
});

test('the hover of a job whose service does not respond has the state and the cost of the last contact', () => {
  const lost = { reason: 'unreachable', since: NOW } as const;
  const text = jobTooltip(runningJob(), NOW + 3_600_000, lost);
  assert.match(text, /State \| last seen running/);
  assert.match(text, /Cost \| about 1\\.2 of/);
});

test('a job whose key is not accepted asks to sign in; one that has ended does not', () => {
  const lost = { reason: 'signedOut', since: NOW } as const;
  const row = jobRow(runningJob({ host: 'https://gpu.example.org' }), { now: NOW, lost });
  assert.match(row.description, /sign in to gpu\.example\.org/);
  assert.equal(row.contextValue, 'job.running.signedOut');
  assert.equal(jobRow(jobRecord(), { now: NOW, lost }).contextValue, 'job.succeeded');
});

test('a job of an account that the service refuses says so, and does not ask to sign in', () => {
  const lost = { reason: 'refused', since: NOW } as const;
  const row = jobRow(runningJob({ host: 'https://gpu.example.org' }), { now: NOW, lost });
  assert.match(row.description, /gpu\.example\.org refuses your account/);
  assert.equal(row.contextValue, 'job.running.refused');
});

test('each state has an icon of its own, so that colour is never all', () => {
  const active = ['sending', 'queued', 'running', 'unknown'].map((state) => runningJob({ state }));
  const over = ['succeeded', 'failed', 'cancelled', 'timed_out'].map((state) => jobRecord({ state, exitCode: null }));
  const icons = [...active, ...over].map((record) => jobRow(record, { now: NOW }).icon);
  assert.equal(new Set(icons).size, icons.length);
});

test('the hover shows times, machine, cost, commit, folder and the last line', () => {
  const text = jobTooltip(jobRecord(), NOW);
  for (const part of [
    'Submitted',
    'Ended',
    '1 h',
    'a10g on this machine',
    '1\\.2 credits',
    '0123456789',
    '/home/ada/model',
    'epoch 3 loss 0\\.1',
  ]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
});

test('a running job has a forecast in its hover, and no end', () => {
  const text = jobTooltip(runningJob(), NOW);
  assert.match(text, /Cost \| about/);
  assert.doesNotMatch(text, /Ended/);
});

test('text of a job cannot become a link, an image, an icon, HTML or another cell', () => {
  const hostile =
    '[x](command:evil) ![](https://e.example/p.png) <img src=x> $(bug) a|b `c`\n\n# d \u001b[31mred\u202e www.e.example a@e.example';
  const text = jobTooltip(jobRecord({ script: hostile, lastLogLine: hostile, reason: hostile }), NOW);
  assert.doesNotMatch(text, /(?<!\\)\[x|(?<!\\)!\[|(?<!\\)<img|(?<!\\)\$\(|\u001b|\u202e/);
  for (const line of text.split('\n').slice(4)) assert.match(line, /^\| [^|]*(?:\\\|[^|]*)*\| .* \|$/);
  assert.doesNotMatch(text, /^# d/m);
  assert.doesNotMatch(text, /https?:|www\.|[^\\]@/); // addresses, which become links by themselves
});

test('the label of a row has no control characters', () => {
  assert.equal(jobRow(jobRecord({ script: 'a\u001b[2Jb\u202e.py' }), { now: NOW }).label, 'ab.py');
});

test('a job that ended with a question says so instead of how it ended, until it is answered', () => {
  const waiting = { path: 'Publish/Review', question: 'Publish it?', choices: ['yes', 'no'] };
  const row = jobRow(jobRecord({ waiting }), { now: NOW });
  assert.match(row.description, /^waits for an answer: Publish it\?/);
  assert.equal(row.contextValue, 'job.succeeded.waiting');
  assert.deepEqual([row.icon, row.color], ['comment-discussion', 'problemsWarningIcon.foreground']);
  assert.equal(jobRow(jobRecord({ waiting, answeredBy: 'another' }), { now: NOW }).contextValue, 'job.succeeded');
});
