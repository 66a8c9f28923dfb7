import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  abortReason,
  AppError,
  assertNever,
  isAbort,
  isErrorCode,
  messageOf,
  systemCode,
} from '../../../src/core/errors.ts';

test('only the rejection of an aborted operation is an abort', () => {
  assert.equal(isAbort(new DOMException('stopped', 'AbortError')), true);
  assert.equal(isAbort(new DOMException('late', 'TimeoutError')), false);
  assert.equal(isAbort({ name: 'AbortError' }), false);
  assert.equal(isAbort(undefined), false);
});

test('the code of a system call is read from errors only, and only if it is text', () => {
  assert.equal(systemCode(Object.assign(new Error('gone'), { code: 'ENOENT' })), 'ENOENT');
  assert.equal(systemCode(Object.assign(new Error('gone'), { code: 2 })), undefined);
  assert.equal(systemCode(new Error('gone')), undefined);
  assert.equal(systemCode({ code: 'ENOENT' }), undefined);
});

test('whatever was thrown has a message', () => {
  assert.equal(messageOf(new Error('broken')), 'broken');
  assert.equal(messageOf('text'), 'text');
  assert.equal(messageOf(undefined), 'undefined');
  assert.throws(() => assertNever('other' as never), { message: 'Unexpected value: "other"' });
});

test('an error keeps its code and cause, and shows no password of a URL', () => {
  const cause = new Error('below');
  const error = new AppError('unreachable', 'https://me:secret@host does not answer.', { cause });
  assert.deepEqual([error.name, error.code, error.cause], ['AppError', 'unreachable', cause]);
  assert.equal(error.message, 'https://[redacted]@host does not answer.');
});

test('the codes of our own errors are a list that programs can rely on', () => {
  const codes =
    'bad-input conflict corrupt limit missing no-credits no-space not-signed-in outcome-unknown permission refused unreachable untrusted';
  for (const code of codes.split(' ')) assert.equal(isErrorCode(code), true, code);
  for (const code of ['', 'ENOENT', 'toString', undefined, 5]) assert.equal(isErrorCode(code), false, String(code));
});

test('the reason of an abort is an error, whatever it was aborted with', () => {
  const reason = new Error('enough');
  assert.equal(abortReason(AbortSignal.abort(reason)), reason);
  const text = abortReason(AbortSignal.abort('enough'));
  assert.deepEqual([text instanceof Error, text.message], [true, 'enough']);
  assert.equal(abortReason(AbortSignal.abort()).name, 'AbortError');
});
