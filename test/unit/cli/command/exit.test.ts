import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure } from '../../../../src/cli/command/exit.ts';
import { AppError } from '../../../../src/core/errors.ts';
import {
  AuthError,
  InsufficientCreditsError,
  NetworkError,
  RemoteError,
} from '../../../../src/remote/http/remoteErrors.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
const selfSigned = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
const CASES: readonly (readonly [unknown, number, string])[] = [
  [new AppError('bad-input', 'x'), 2, 'bad-input'],
  [new AppError('missing', 'x'), 2, 'missing'],
  [new AppError('not-signed-in', 'x'), 3, 'not-signed-in'],
  [new AppError('outcome-unknown', 'x'), 5, 'outcome-unknown'],
  [new AppError('unreachable', 'x'), 5, 'unreachable'],
  [new AppError('refused', 'x'), 1, 'refused'],
  [new AppError('no-space', 'x'), 1, 'no-space'],
  [new AuthError(401, 'x'), 3, 'http-401'],
  [new AuthError(403, 'x'), 3, 'http-403'],
  [new InsufficientCreditsError(402, 'x'), 4, 'http-402'],
  [new RemoteError(400, 'x'), 2, 'http-400'],
  [new RemoteError(404, 'x'), 2, 'http-404'],
  [new RemoteError(409, 'x'), 1, 'http-409'],
  [new RemoteError(503, 'x'), 5, 'http-503'],
  [new NetworkError('https://example.org', new Error('10 s')), 5, 'unreachable'],
  [refused, 5, 'ECONNREFUSED'],
  [selfSigned, 5, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [AbortSignal.abort().reason, 130, 'interrupted'],
  [new Error('a bug'), 1, 'failed'],
];

test('every failure has the exit status of its kind and a code for programs', () => {
  for (const [error, exit, code] of CASES) {
    const failure = describeFailure(error);
    assert.deepEqual([failure.exit, failure.code], [exit, code], String(error));
  }
});

test('what is wrong with a key or with credits comes with the options of the command line that help', () => {
  const noKey = describeFailure(new AuthError(401, 'HTTP 401: Invalid or revoked API key.')).message;
  assert.match(noKey, /HTTP 401: Invalid or revoked API key\)\. .*FARWHARF_API_KEY/);
  const noCredits = describeFailure(new InsufficientCreditsError(402, 'needs 6 credits')).message;
  assert.match(noCredits, /: needs 6 credits\. .*--max-runtime/);
});
