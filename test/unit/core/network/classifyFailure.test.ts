import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import {
  classifyFailure,
  classifyStatus,
  httpStatus,
  isFinal,
  isPassing,
  type RequestFailure,
} from '../../../../src/core/network/classifyFailure.ts';
import { ProxyError } from '../../../../src/core/network/proxyError.ts';
import { AuthError, NetworkError, RemoteError } from '../../../../src/remote/http/remoteErrors.ts';

const coded = (code: string, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code });

const STATUSES: readonly (readonly [RequestFailure, ...number[]])[] = [
  ['invalid', 400, 422],
  ['unauthorized', 401],
  ['unpaid', 402],
  ['forbidden', 403],
  ['missing', 404],
  ['conflict', 409],
  ['gone', 410],
  ['lacking', 424],
  ['busy', 429],
  ['unavailable', 502, 503, 504, 507],
  ['failed', 408, 500, 501, 505, 520, 599],
  ['refused', 200, 302, 405, 406, 413, 415, 418, 451, 499],
];

for (const [failure, ...statuses] of STATUSES) {
  test(`${failure} is the status ${statuses.join(', ')}`, () => {
    for (const status of statuses) {
      assert.equal(classifyStatus(status), failure);
      assert.equal(classifyFailure(new RemoteError(status, '')), failure);
    }
  });
}

const ERRORS: readonly (readonly [RequestFailure, string, unknown])[] = [
  ['unreachable', 'a refused connection', coded('ECONNREFUSED')],
  ['unreachable', 'an unknown name', coded('ENOTFOUND')],
  ['unreachable', 'a connection that broke off', coded('ERR_STREAM_PREMATURE_CLOSE')],
  ['unreachable', 'a response that is not HTTP', coded('HPE_INVALID_CONSTANT')],
  ['unreachable', 'a connection of another fetch that broke off', coded('UND_ERR_SOCKET')],
  ['unreachable', 'a timeout', new NetworkError('http://h', new Error('no data for 60 s'))],
  ['unreachable', 'a proxy', new ProxyError('It does not answer.', { code: 'ERR_PROXY_REFUSED' })],
  ['unreachable', 'an identity provider that does not answer', new AppError('unreachable', 'No.')],
  ['untrusted', 'a certificate', coded('DEPTH_ZERO_SELF_SIGNED_CERT')],
  ['untrusted', 'a certificate for another name', coded('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['untrusted', 'a certificate as the cause', new Error('fetch failed', { cause: coded('CERT_HAS_EXPIRED') })],
  ['unauthorized', 'a refused key', new AuthError(401, '')],
  ['local', 'what this program refuses', new AppError('not-signed-in', 'No key.')],
  ['unknown', 'a full disk', coded('ENOSPC')],
  ['unknown', 'an abort', AbortSignal.abort().reason],
  ['unknown', 'an error without a code', new Error('reset')],
  ['unknown', 'no error at all', 'lost'],
];

for (const [failure, what, error] of ERRORS) {
  test(`${what} is ${failure}`, () => assert.equal(classifyFailure(error), failure));
}

test('only a response has a status', () => {
  assert.equal(httpStatus(new RemoteError(418, '')), 418);
  for (const error of [new Error('lost'), coded('ECONNRESET'), undefined]) assert.equal(httpStatus(error), undefined);
});

test('a failure is passing, or final, or neither', () => {
  const all = [...STATUSES, ...ERRORS].map(([failure]) => failure);
  const passing = new Set(all.filter(isPassing));
  assert.deepEqual([...passing].sort(), ['busy', 'failed', 'unavailable', 'unreachable']);
  const undecided = new Set(all.filter((failure) => !isFinal(failure) && !passing.has(failure)));
  assert.deepEqual([...undecided].sort(), ['unknown', 'untrusted']);
});
