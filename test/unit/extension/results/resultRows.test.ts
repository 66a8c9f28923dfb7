import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedTicks, decisionsFor, needsDecision, resultRows } from '../../../../src/extension/results/resultRows.ts';
import type { PlannedResult, ResultStatus } from '../../../../src/workspace/results/applyResults.ts';

const planned = (path: string, status: ResultStatus): PlannedResult => ({ path, status, size: 1200 });
const plan = [
  planned('new.txt', 'new'),
  planned('same.txt', 'same'),
  planned('changed.txt', 'changed'),
  planned('both.txt', 'conflict'),
  { ...planned('.vscode/settings.json', 'protected'), review: { reason: 'protected', isNew: true } },
  { ...planned('.npmrc', 'review'), review: { reason: 'hidden', isNew: true } },
  { ...planned('conf/.hydra/x', 'review'), review: { reason: 'hidden', isNew: false } },
] as const;
const items = resultRows(plan).map((row) => ({ row }));
const ticked = items.filter(({ row }) => row.isTicked);
const [keepBoth, useResult, keepMine] = items;
assert.ok(keepBoth && useResult && keepMine);

test('the hardest decisions come first and what is chosen one by one last; what is the same is not asked about', () => {
  assert.deepEqual(
    [...new Set(items.map(({ row }) => row.path))],
    ['both.txt', 'changed.txt', 'new.txt', '.npmrc', 'conf/.hydra/x', '.vscode/settings.json'],
  );
});

test('a conflict has one line for each choice, in words', () => {
  assert.deepEqual(
    items.slice(0, 3).map(({ row }) => [row.decision, row.description, row.isTicked, row.canCompare]),
    [
      ['keep-both', 'keep both: save the result beside your file · you and the job changed it · 1.2 KB', true, true],
      ['write', 'use the result: replace your file', false, true],
      ['skip', 'keep mine: do not save the result', false, true],
    ],
  );
});

test('of the choices for a file only the last one stays', () => {
  assert.deepEqual(
    allowedTicks(ticked, [...ticked, useResult]),
    [...ticked, useResult].filter((item) => item !== keepBoth),
  );
  assert.deepEqual(allowedTicks([useResult], [keepMine, useResult]), [keepMine]);
  assert.deepEqual(allowedTicks([useResult], []), [], 'unchecking a choice is one too');
});

test('what may change what tools do is not ticked, and has a diff, also when it is new', () => {
  const apart = resultRows(plan).filter(({ isApart }) => isApart);
  assert.deepEqual(
    apart.map(({ path, isTicked, canCompare, isNew }) => ({ path, isTicked, canCompare, isNew })),
    [
      { path: '.npmrc', isTicked: false, canCompare: true, isNew: true },
      { path: 'conf/.hydra/x', isTicked: false, canCompare: true, isNew: false },
      { path: '.vscode/settings.json', isTicked: false, canCompare: true, isNew: true },
    ],
  );
  assert.match(apart[1]?.description ?? '', /^replaces your file · hidden/);
});

test('selecting all rows selects the default of each file, and none that is selected one at a time', () => {
  assert.deepEqual(allowedTicks([], items), ticked);
  const [npmrc] = items.filter(({ row }) => row.path === '.npmrc');
  assert.ok(npmrc);
  const withOne = [...ticked, npmrc];
  assert.deepEqual(allowedTicks(ticked, withOne), withOne);
  assert.deepEqual(allowedTicks(withOne, items), withOne, 'what was ticked by itself stays ticked');
  assert.deepEqual(
    allowedTicks([keepMine], items),
    [keepMine, ...ticked.filter((item) => item !== keepBoth)],
    'a choice stays',
  );
});

test('as it stands, a conflict keeps both, and nothing unticked is written', () => {
  const decisions = decisionsFor(
    plan,
    ticked.map(({ row }) => row),
  );
  assert.deepEqual(Object.fromEntries(decisions), {
    'new.txt': 'write',
    'same.txt': 'skip',
    'changed.txt': 'write',
    'both.txt': 'keep-both',
    '.vscode/settings.json': 'skip',
    '.npmrc': 'skip',
    'conf/.hydra/x': 'skip',
  });
  assert.equal(decisionsFor(plan, [useResult.row]).get('both.txt'), 'write');
  assert.equal(decisionsFor(plan, [keepMine.row]).get('both.txt'), 'skip');
});

test('nobody is asked while every file is new or the same', () => {
  assert.equal(needsDecision(plan.slice(0, 2)), false);
  assert.equal(needsDecision(plan), true);
});

test('the outputs of a notebook can be merged, which is the default, whether it was edited or not', () => {
  const notebook = (status: ResultStatus, olderOutputs: number) => ({
    ...planned('a.ipynb', status),
    merge: { olderOutputs },
  });
  assert.deepEqual(
    resultRows([notebook('conflict', 2)]).map(({ decision, description, isTicked }) => [
      decision,
      description,
      isTicked,
    ]),
    [
      [
        'merge',
        'merge: put the outputs of the job into your notebook · 2 cells keep your edits and show older outputs · 1.2 KB',
        true,
      ],
      ['keep-both', 'keep both: save the result beside your file · you and the job changed it · 1.2 KB', false],
      ['write', 'use the result: replace your file', false],
      ['skip', 'keep mine: do not save the result', false],
    ],
  );
  const [first, second] = resultRows([notebook('changed', 0)]);
  assert.deepEqual(
    [first?.description, second?.description],
    [
      'merge: put the outputs of the job into your notebook · 1.2 KB',
      'keep both: save the result beside your file · 1.2 KB',
    ],
  );
});
