import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProblem } from '../../../../src/core/files/readProblem.ts';

test('why a file could not be read is said with what to do', () => {
  const problem = (code: string | undefined): string =>
    readProblem('a.json', Object.assign(new Error('the disk is on fire'), { code }));
  for (const code of ['ENOENT', 'ENOTDIR']) assert.equal(problem(code), 'a.json does not exist. Check the path.');
  assert.equal(problem('EISDIR'), 'a.json is a folder. Enter the path of a file.');
  for (const code of ['EACCES', 'EPERM']) assert.equal(problem(code), 'a.json cannot be read. Change its permissions.');
  for (const code of ['EIO', undefined]) assert.equal(problem(code), 'a.json cannot be read: the disk is on fire');
});
