import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure } from '../../../../src/cli/command/exit.ts';
import { AppError } from '../../../../src/core/errors.ts';
import { AuthError, InsufficientCreditsError, NetworkError, RemoteError } from '../../../../src/remote/http/errors.ts';

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

test('a failed connection names the service, and a message from outside cannot move the cursor', () => {
  assert.match(
    describeFailure(refused, 'https://gpu.example.org').message,
    /^Could not reach the service at https:\/\/gpu\.example\.org/,
  );
  const { message } = describeFailure(new RemoteError(400, 'bad\u001b[2J request'));
  assert.equal(message, 'The service refused the request: bad request.');
});

test('a key or credits that the service refuses come with what to do about them', () => {
  const noKey = describeFailure(new AuthError(401, 'HTTP 401: Invalid or revoked API key.')).message;
  assert.match(noKey, /^HTTP 401: Invalid or revoked API key\. .*FARWHARF_API_KEY/);
  const noCredits = describeFailure(new InsufficientCreditsError(402, 'HTTP 402: insufficient credits')).message;
  assert.match(noCredits, /^HTTP 402: insufficient credits\. .*--max-runtime/);
});

test('a connection that failed while it was used is told with what to do, and without what only a programmer reads', () => {
  const failures: readonly [object, RegExp][] = [
    [{ code: 'ECONNRESET', message: 'aborted' }, /^The connection to https:\/\/gpu\.example\.org broke off\./],
    [
      { code: 'ERR_SSL_BAD_RECORD_TYPE', reason: 'bad record type', message: '40ADDF93C37F0000:error:0A0001BB' },
      /^The encrypted connection to https:\/\/gpu\.example\.org failed \(bad record type\)\./,
    ],
    [{ code: 'HPE_INVALID_CONSTANT', message: 'Parse Error' }, /^What arrived from .* is damaged, or not HTTP\./],
  ];
  for (const [fields, sentence] of failures) {
    const { exit, message } = describeFailure(Object.assign(new Error(), fields), 'https://gpu.example.org');
    assert.equal(exit, 5);
    assert.match(message, sentence);
    assert.match(message, /Check the network and try again\.$/);
  }
  const silence = new NetworkError('https://gpu.example.org', new Error('no data for 180 s'));
  assert.match(describeFailure(silence).message, /no data for 180 s\. Check the network and try again\.$/);
});
