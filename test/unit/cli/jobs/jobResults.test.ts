import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide, describeReplaced, describeResults } from '../../../../src/cli/jobs/jobResults.ts';
import type { PlannedResult } from '../../../../src/workspace/results/applyResults.ts';

const PLAN: readonly PlannedResult[] = [
  { path: 'new.txt', size: 1, status: 'new' },
  { path: 'same.txt', size: 1, status: 'same' },
  { path: 'changed.txt', size: 1, status: 'changed' },
  { path: 'conflict.txt', size: 1, status: 'conflict' },
  { path: '.git/config', size: 1, status: 'protected' },
];
const decisions = (choice: Parameters<typeof decide>[1]) =>
  PLAN.map(({ path }) => decide(PLAN, choice).get(path) ?? 'none');

test('what the user edited is overwritten only if that was asked for, and protected names never', () => {
  assert.deepEqual(decisions('keep-both'), ['write', 'skip', 'keep-both', 'keep-both', 'skip']);
  assert.deepEqual(decisions('overwrite'), ['write', 'skip', 'write', 'write', 'skip']);
  assert.deepEqual(decisions('skip'), ['write', 'skip', 'skip', 'skip', 'skip']);
  assert.deepEqual(decisions('merge'), ['write', 'skip', 'write', 'keep-both', 'skip']);
});

test('the message says what was downloaded, what was not and why, and where it is', () => {
  const lines = describeResults({
    folder: '/home/ada/model',
    plan: PLAN,
    written: ['new.txt', 'conflict (job 1).txt'],
    skipped: ['same.txt', 'changed.txt', '.git/config'],
    merged: [],
    setAside: [],
    moved: [],
    refused: [{ path: 'link', reason: 'a link' }],
  });
  assert.deepEqual(lines, [
    '  + new.txt',
    '  + conflict (job 1).txt',
    '  = changed.txt (your file was kept)',
    '  - .git/config (not written: other tools read this file name)',
    '  - link (a link)',
    '2 results in /home/ada/model',
  ]);
});

test('the outputs of a notebook come into the local one, unless something else was asked for', () => {
  const file = { path: 'a.ipynb', size: 1, status: 'conflict', merge: { olderOutputs: 2 } } as const;
  const choices = ['merge', 'keep-both', 'overwrite', 'skip'] as const;
  assert.deepEqual(
    choices.map((choice) => decide([file], choice).get('a.ipynb')),
    ['merge', 'keep-both', 'write', 'skip'],
  );
  const none = { folder: '/f', plan: [file], skipped: [], setAside: [], moved: [], refused: [] };
  const lines = describeResults({ ...none, written: ['a.ipynb'], merged: ['a.ipynb'] });
  assert.equal(
    lines[0],
    '  + a.ipynb (yours, with the outputs of the job; those of 2 cells are older than your edits)',
  );
  assert.equal(describeResults({ ...none, written: ['a.ipynb'], merged: [] })[0], '  + a.ipynb');
});

test('a file that only the job changed is said to be replaced, with what brings it back', () => {
  const empty = { folder: '/f', merged: [], skipped: [], setAside: [], moved: [], refused: [] };
  const results = { ...empty, plan: PLAN, written: ['changed.txt', 'new.txt'] };
  assert.deepEqual(describeResults(results).slice(0, 2), [
    '  + changed.txt (in place of yours, which was as submitted)',
    '  + new.txt',
  ]);
  assert.deepEqual(describeReplaced(results, 'job 1'), [
    "Bring back what was submitted:  farwharf restore 'job 1' changed.txt --on-conflict overwrite",
  ]);
  const two = { ...results, plan: [...PLAN, { path: '-b', size: 1, status: 'changed' as const }] };
  assert.deepEqual(describeReplaced({ ...two, written: ['changed.txt', '-b'] }, 'j'), [
    'Bring back what was submitted:  farwharf restore j PATH --on-conflict overwrite',
  ]);
  assert.deepEqual(describeReplaced({ ...results, written: ['changed (job 1).txt'] }, 'j'), []);
});

test('what was set aside is listed with its reason and location', () => {
  const lines = describeResults({
    folder: '/f',
    plan: [
      { path: '.npmrc', size: 1, status: 'review', review: { reason: 'hidden', isNew: true } },
      { path: '.gitignore', size: 1, status: 'review', review: { reason: 'selection', isNew: false } },
    ],
    written: [],
    skipped: [],
    merged: [],
    setAside: [
      { path: '.npmrc', at: '.farwharf-results/7/.npmrc' },
      { path: '.gitignore', at: '.farwharf-results/7/.gitignore' },
    ],
    moved: [],
    refused: [],
  });
  assert.deepEqual(lines, [
    '  ? .npmrc (set aside: hidden)',
    '  ? .gitignore (set aside: changes what the next submit sends)',
    'They are in .farwharf-results/7, which is never sent. Compare the files, and move those that you want into place.',
    'No file in /f was changed.',
  ]);
});

test('many files are counted, and no new ones are called so', () => {
  const written = Array.from({ length: 1_020 }, (_, i) => `f${i}`);
  const empty = { folder: '/f', plan: [], written: [], merged: [], skipped: [], setAside: [], moved: [], refused: [] };
  assert.equal(describeResults({ ...empty, written })[20], '  + 1,000 more files');
  const same = { ...empty, plan: PLAN, skipped: ['same.txt'] };
  assert.deepEqual(describeResults(same), ['Nothing new: /f already has all the results.']);
  assert.deepEqual(describeResults(empty), ['The job produced no results.']);
});

test('however many results there are of a kind, 20 are named and the rest are counted', () => {
  const paths = Array.from({ length: 200_000 }, (_, index) => `data/${index}`);
  const none = { folder: '/f', written: [], merged: [], setAside: [], moved: [], refused: [] };
  const kept = describeResults({
    ...none,
    plan: paths.map((path) => ({ path, size: 1, status: 'conflict' })),
    skipped: paths,
  });
  assert.deepEqual(
    [kept.length, kept[19], kept[20], kept[21]],
    [22, '  = data/19 (your file was kept)', '  = 199,980 more files', 'No file in /f was changed.'],
  );
  const protectedNames = describeResults({
    ...none,
    plan: paths.map((path) => ({ path, size: 1, status: 'protected' })),
    skipped: paths,
  });
  assert.deepEqual([protectedNames.length, protectedNames[20]], [22, '  - 199,980 more files']);
  const refused = describeResults({
    ...none,
    plan: [],
    skipped: [],
    refused: paths.map((path) => ({ path, reason: 'a link' })),
  });
  assert.deepEqual(refused.slice(19), ['  - data/19 (a link)', '  - 199,980 more files', 'No file in /f was changed.']);
});
