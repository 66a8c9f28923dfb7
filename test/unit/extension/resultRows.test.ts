import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisionsFor, needsDecision, resultRows, toggled } from '../../../src/extension/resultRows.ts';
import type { PlannedResult, ResultStatus } from '../../../src/workspace/results.ts';

const planned = (path: string, status: ResultStatus): PlannedResult => ({ path, status, size: 1200 });
const plan = [
  planned('new.txt', 'new'),
  planned('same.txt', 'same'),
  planned('changed.txt', 'changed'),
  planned('both.txt', 'conflict'),
  planned('.vscode/settings.json', 'protected'),
];

test('what needs a decision comes first, what is the same is not asked about', () => {
  assert.deepEqual(
    resultRows(plan).map(({ path }) => path),
    ['both.txt', 'changed.txt', '.vscode/settings.json', 'new.txt'],
  );
});

test('protected names are the only ones not ticked', () => {
  assert.deepEqual(
    resultRows(plan)
      .filter(({ isTicked }) => !isTicked)
      .map(({ path }) => path),
    ['.vscode/settings.json'],
  );
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
