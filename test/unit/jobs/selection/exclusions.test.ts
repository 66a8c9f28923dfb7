import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeExclusion, EXCLUSION_REASONS, groupExclusions } from '../../../../src/jobs/selection/exclusions.ts';
import type { Exclusion } from '../../../../src/workspace/select/selection.ts';

test('a reason says which rule decided, and where it stands', () => {
  const exclusion: Exclusion = {
    path: 'a.log',
    type: 'file',
    reason: 'gitignore',
    rule: '*.log',
    at: 'sub/.gitignore:3',
  };
  assert.equal(describeExclusion(exclusion), 'ignored by git: *.log (sub/.gitignore:3)');
});

test('exclusions are grouped by reason, secrets first', () => {
  const excluded = (['cache', 'gitignore', 'secret', 'cache'] as const).map(
    (reason, index): Exclusion => ({ path: String(index), type: 'file', reason }),
  );
  assert.deepEqual(
    groupExclusions(excluded).map(([reason, group]) => [reason, group.map(({ path }) => path)]),
    [
      ['secret', ['2']],
      ['gitignore', ['1']],
      ['cache', ['0', '3']],
    ],
  );
});

test('each reason has its words, with the rule and its place as far as they are known', () => {
  const words = {
    secret: 'looks like a secret',
    limit: 'over a size or count limit',
    unreadable: 'cannot be read',
    link: 'symbolic link',
    name: 'name that does not work on every system',
    special: 'not a regular file',
    user: 'excluded by you',
    farwharfignore: 'ignored by .farwharfignore',
    gitignore: 'ignored by git',
    venv: 'virtual environment',
    cache: 'cache or installed packages',
    git: "git's own data, or a repository inside this one",
  };
  assert.deepEqual(EXCLUSION_REASONS, words);
  const exclusion = { path: 'a', type: 'file', reason: 'venv' } as const;
  assert.equal(describeExclusion(exclusion), 'virtual environment');
  assert.equal(describeExclusion({ ...exclusion, rule: 'r' }), 'virtual environment: r');
  assert.equal(describeExclusion({ ...exclusion, at: 'x:1' }), 'virtual environment (x:1)');
  const pipe = { ...exclusion, reason: 'special', rule: 'not a regular file' } as const;
  assert.equal(describeExclusion(pipe), 'not a regular file');
  assert.deepEqual(groupExclusions([]), []);
});
