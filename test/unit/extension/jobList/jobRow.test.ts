import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobRow, jobTooltip } from '../../../../src/extension/jobList/jobRow.ts';
import { jobRecord, runningJob } from '../jobs.ts';

const NOW = Date.parse('2026-11-20T12:04:05.000Z');

test('a running job says for how long, where and at what price', () => {
  const row = jobRow(runningJob(), NOW);
  assert.equal(row.label, 'train.py --epochs 3');
  assert.equal(row.description, 'running 4 min · a10g · 1.2 cr');
  assert.equal(row.icon, 'sync~spin');
  assert.equal(row.contextValue, 'job.running');
});

test('a screen reader hears whole words instead of dots and abbreviations', () => {
  assert.equal(jobRow(runningJob(), NOW).spoken, 'train.py --epochs 3, running 4 min, a10g, 1.2 credits');
});

test('each state has an icon of its own, so that colour is never all', () => {
  const active = ['sending', 'queued', 'running', 'unknown'].map((state) => runningJob({ state }));
  const over = ['succeeded', 'failed', 'cancelled', 'timed_out'].map((state) => jobRecord({ state, exitCode: null }));
  const icons = [...active, ...over].map((record) => jobRow(record, NOW).icon);
  assert.equal(new Set(icons).size, icons.length);
});

test('the hover tells times, machine, cost, commit, folder and the last line', () => {
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
    '[x](command:evil) ![](https://e.example/p.png) <img src=x> $(bug) a|b `c`\n\n# d \u001b[31mred\u202e';
  const text = jobTooltip(jobRecord({ script: hostile, lastLogLine: hostile, reason: hostile }), NOW);
  assert.doesNotMatch(text, /(?<!\\)\[x|(?<!\\)!\[|(?<!\\)<img|(?<!\\)\$\(|\u001b|\u202e/);
  for (const line of text.split('\n').slice(4)) assert.match(line, /^\| [^|]*(?:\\\|[^|]*)*\| .* \|$/);
  assert.doesNotMatch(text, /^# d/m);
});

test('the label of a row has no control characters', () => {
  assert.equal(jobRow(jobRecord({ script: 'a\u001b[2Jb\u202e.py' }), NOW).label, 'ab.py');
});
