import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decisionsFor,
  needsDecision,
  resultRows,
  tickedOneByOne,
  toggled,
} from '../../../../src/extension/results/resultRows.ts';
import type { PlannedResult, ResultStatus } from '../../../../src/workspace/results/results.ts';

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

test('the hardest decisions come first and what is chosen one by one last; what is the same is not asked about', () => {
  assert.deepEqual(
    resultRows(plan).map(({ path }) => path),
    ['both.txt', 'changed.txt', 'new.txt', '.npmrc', 'conf/.hydra/x', '.vscode/settings.json'],
  );
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
  assert.deepEqual(
    resultRows(plan).filter(({ isTicked, isApart }) => isTicked === isApart),
    [],
  );
});

test('a tick for all rows at once does not tick what is chosen one by one', () => {
  const items = resultRows(plan).map((row) => ({ row }));
  const ticked = items.filter(({ row }) => row.isTicked);
  assert.deepEqual(tickedOneByOne([], items), ticked);
  const [npmrc] = items.filter(({ row }) => row.path === '.npmrc');
  assert.ok(npmrc);
  const withOne = [...ticked, npmrc];
  assert.deepEqual(tickedOneByOne(ticked, withOne), withOne);
  assert.deepEqual(tickedOneByOne(withOne, items), withOne, 'what was ticked by itself stays ticked');
});

test('as it stands, a conflict keeps both, and nothing unticked is written', () => {
  const decisions = decisionsFor(
    plan,
    resultRows(plan).filter(({ isTicked }) => isTicked),
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
});

test('a conflict can be switched to overwriting and back, and says so', () => {
  const [row] = resultRows([planned('both.txt', 'conflict')]);
  assert.ok(row);
  assert.match(row.description, /^keep both · changed by the job and by you · 1\.2 KB$/);
  const other = toggled(row);
  assert.equal(other.decision, 'write');
  assert.match(other.description, /^overwrite · changed by the job and by you/);
  assert.deepEqual(toggled(other), row);
});

test('nobody is asked while every file is new or the same', () => {
  assert.equal(needsDecision(plan.slice(0, 2)), false);
  assert.equal(needsDecision(plan), true);
});
