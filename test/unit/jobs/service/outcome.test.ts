import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { didNotArrive, isSurelyNotSent, outcomeUnknown } from '../../../../src/jobs/service/outcome.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';

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

test('every failure before a connection, and every one of a certificate, has sent nothing', () => {
  const surely = (fields: object): boolean => isSurelyNotSent(failureWith(fields), { isFirst: true });
  for (const code of [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EAI_FAIL',
    'EAI_NODATA',
    'CERT_X',
    'DEPTH_ZERO_X',
    'SELF_SIGNED_X',
    'UNABLE_TO_X',
    'ERR_TLS_X',
    'HOSTNAME_MISMATCH',
    'INVALID_CA',
  ]) {
    assert.equal(surely({ code }), true, code);
  }
  for (const code of ['EPIPE', 'ETIMEDOUT', 'XCERT_', 'EAI_X']) assert.equal(surely({ code }), false, code);
  assert.deepEqual([surely({ syscall: 'getaddrinfo' }), surely({ syscall: 'read' })], [true, false]);
  assert.equal(isSurelyNotSent('text', { isFirst: true }), false);
  assert.equal(isSurelyNotSent(new RemoteError(299, ''), { isFirst: false }), false);
  assert.equal(isSurelyNotSent(new RemoteError(300, ''), { isFirst: false }), true);
});

test('what did not arrive is said with its service', () => {
  assert.equal(
    didNotArrive({ host: 'local' }),
    'The upload was not completed, so the job service on this machine has no job and charges nothing. Submit it again.',
  );
  assert.match(didNotArrive({ host: 'https://x' }), /^The upload was not completed, so https:\/\/x has no job/);
  const half = outcomeUnknown('local', { sentBytes: 999, totalBytes: 1_000, isCancelled: true }, undefined);
  assert.deepEqual(
    [half.code, half.message],
    [
      'outcome-unknown',
      'You stopped before the job service on this machine responded. 99 % of the files were sent, so the job most likely does not exist. Check with the service before you send it again.',
    ],
  );
  const cause = new RemoteError(502, '');
  const refused = outcomeUnknown('local', { sentBytes: 0, totalBytes: 0, isCancelled: false }, cause);
  assert.equal(refused.cause, cause);
  assert.equal(
    refused.message,
    'The response of the job service on this machine does not say whether the job was accepted. All files were sent, so the job may be running. Check with the service before you send it again.',
  );
});
