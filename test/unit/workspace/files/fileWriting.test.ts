import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { writeFailure } from '../../../../src/workspace/files/fileWriting.ts';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });

test('a write that the system refuses says what to do', () => {
  for (const [codes, code, message] of [
    ['ENOSPC EDQUOT', 'no-space', 'The disk is full, so a.txt was not written. Free some space and try again.'],
    [
      'EACCES EPERM EROFS',
      'permission',
      "a.txt may not be written. Change the folder's permissions or choose another one.",
    ],
    ['ENOENT ENOTDIR', 'missing', 'a.txt cannot be written: its folder does not exist.'],
    ['ENAMETOOLONG', 'limit', 'a.txt cannot be written: its name is too long for this disk.'],
    ['EIO', 'permission', 'a.txt cannot be written: failed.'],
  ] as const) {
    for (const each of codes.split(' ')) {
      const cause = failure(each);
      const error = writeFailure(cause, 'a.txt');
      assert.ok(error instanceof AppError);
      assert.deepEqual([error.code, error.message, error.cause], [code, message, cause], each);
    }
  }
});

test('an abort, an error of ours and one without a code stay what they are', () => {
  for (const error of [failure('ABORT_ERR'), new AppError('limit', 'x'), new Error('plain'), 'text', undefined]) {
    assert.equal(writeFailure(error, 'a.txt'), error);
  }
});
