import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distinctNames } from '../../../../../src/extension/flows/canvas/distinctNames.ts';

test('a name has no folders if it is the only one, and those that distinguish it otherwise', () => {
  const cases = {
    '/ws/main.mts /ws/other.mts': 'main.mts other.mts',
    '/ws/a/main.mts /ws/b/main.mts /ws/other.mts': 'a/main.mts b/main.mts other.mts',
    '/ws/main.mts /ws/a/main.mts': 'ws/main.mts a/main.mts',
    '/ws/a/x/main.mts /ws/b/x/main.mts /ws/b/y/main.mts': 'a/x/main.mts b/x/main.mts y/main.mts',
    '/ws/domain.mts /ws/main.mts': 'domain.mts main.mts',
    '/main.mts /main.mts/main.mts': '/main.mts main.mts/main.mts',
  };
  for (const [paths, names] of Object.entries(cases))
    assert.deepEqual(distinctNames(paths.split(' ')), names.split(' '));
});
