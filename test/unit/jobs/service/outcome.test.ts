import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { isSurelyNotSent, outcomeUnknown } from '../../../../src/jobs/service/outcome.ts';
import { RemoteError } from '../../../../src/remote/http/errors.ts';

const failureWith = (fields: object): Error => Object.assign(new Error('no'), fields);

test('an unknown outcome says what happened, what it means and what to do', () => {
  const text = (cause: Error, sentBytes: number, isCancelled = false, host = 'https://gpu.example.org'): string =>
    outcomeUnknown(host, { sentBytes, totalBytes: 100, isCancelled }, cause).message;
  assert.equal(
    text(new Error('reset'), 100),
    'The connection to https://gpu.example.org was lost before it responded. All files were sent, so the job may be running. Check with the service before you send it again.',
  );
  assert.match(text(new Error('reset'), 42), /^The connection .* 42 % of the files were sent, so the job most likely/);
  assert.match(
    text(new Error('reset'), 100, true, 'local'),
    /^You stopped before the job service on this machine resp/,
  );
  assert.match(text(new RemoteError(502, 'HTTP 502'), 100), /^The response of .* does not say whether/);
});

test('a job surely does not exist after a refusal, or if nothing could be sent', () => {
  const surely = (error: Error, isFirst = true): boolean => isSurelyNotSent(error, { isFirst });
  for (const status of [301, 400, 402, 413, 429, 503]) assert.equal(surely(new RemoteError(status, ''), false), true);
  for (const status of [200, 500, 502, 504]) assert.equal(surely(new RemoteError(status, '')), false, String(status));
  assert.equal(surely(new AppError('conflict', 'the archive changed'), false), true);
  for (const fields of [
    { code: 'ECONNREFUSED' },
    { code: 'CERT_HAS_EXPIRED' },
    { code: 'ETIMEDOUT', syscall: 'connect' },
    { code: 'ENOENT', path: '/home/ada/a.tar.gz' },
    { cause: failureWith({ code: 'ENOTFOUND' }) },
  ]) {
    assert.deepEqual([surely(failureWith(fields)), surely(failureWith(fields), false)], [true, false]);
  }
  for (const code of ['ECONNRESET', 'ERR_SSL_WRONG_VERSION_NUMBER']) assert.equal(surely(failureWith({ code })), false);
});
