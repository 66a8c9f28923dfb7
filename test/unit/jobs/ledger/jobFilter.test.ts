import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFiltering, type JobFilter, jobMatcher, NO_FILTER } from '../../../../src/jobs/ledger/jobFilter.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { insertAll, makeRecord, tempHome } from '../fixtures.ts';

const RECORDS = [
  makeRecord({ script: 'train.py --lr 0.1', project: 'vision', state: 'succeeded', folder: '/home/ada/Model' }),
  makeRecord({ script: 'train.py --lr 0.2', state: 'failed', lastLogLine: "KeyError: 'lr'" }),
  makeRecord({ script: 'eval.py', project: 'vision', state: 'running', host: 'https://gpu.example.org' }),
];
const found = (filter: Partial<JobFilter>): number[] =>
  RECORDS.flatMap((record, index) => (jobMatcher({ ...NO_FILTER, ...filter })(record) ? [index] : []));

test('each word must occur in what describes the job, in any case and order', () => {
  assert.deepEqual(found({ text: '0.1 TRAIN' }), [0]);
  assert.deepEqual(found({ text: 'keyerror' }), [1]);
  assert.deepEqual(found({ text: 'model train' }), [0, 1]);
  assert.deepEqual(found({ text: 'gpu.example' }), [2]);
  assert.deepEqual(found({ text: 'train nothing' }), []);
});

test('states, projects and services limit the list together', () => {
  assert.deepEqual(found({ states: ['failed', 'running'] }), [1, 2]);
  assert.deepEqual(found({ projects: ['vision'] }), [0, 2]);
  assert.deepEqual(found({ projects: [''] }), [1]);
  assert.deepEqual(found({ hosts: ['local'], projects: ['vision'] }), [0]);
});

test('blank text limits nothing', () => {
  assert.equal(isFiltering({ ...NO_FILTER, text: '  ' }), false);
  assert.deepEqual(found({ text: '  ' }), [0, 1, 2]);
});

test('the ledger finds what passes a filter page by page, however old it is', (t) => {
  const home = tempHome(t);
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  const failed = Array.from({ length: 5 }, (_, index) =>
    makeRecord({ state: 'failed', createdAt: `2026-01-01T00:00:0${index}.000Z` }),
  );
  const newer = Array.from({ length: 20 }, () => makeRecord({ createdAt: '2026-02-01T00:00:00.000Z' }));
  insertAll(home, [...failed, ...newer]);
  const filter: JobFilter = { ...NO_FILTER, states: ['failed'] };
  const first = ledger.list({ filter, limit: 3 });
  const before = first.at(-1);
  assert.ok(before);
  const second = ledger.list({ filter, limit: 3, before });
  assert.deepEqual(
    [...first, ...second].map(({ id }) => id),
    failed.map(({ id }) => id).reverse(),
  );
});
