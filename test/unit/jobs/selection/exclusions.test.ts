import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeExclusion, groupExclusions } from '../../../../src/jobs/selection/exclusions.ts';
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
