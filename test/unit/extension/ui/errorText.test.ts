import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, type ErrorCode } from '../../../../src/core/errors.ts';
import { explain } from '../../../../src/extension/ui/errorText.ts';
import {
  AuthError,
  InsufficientCreditsError,
  NetworkError,
  RemoteError,
} from '../../../../src/remote/http/remoteErrors.ts';

const system = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

for (const [code, first] of [
  ['not-signed-in', 'signIn'],
  ['untrusted', 'trust'],
  ['no-folder', 'openFolder'],
  ['outcome-unknown', 'checkJobs'],
  ['unreachable', 'retry'],
] as const satisfies readonly (readonly [ErrorCode, string])[]) {
  test(`${code} offers ${first} first`, () => {
    assert.equal(explain(new AppError(code, 'x')).actions[0], first);
  });
}

test('an unknown outcome offers to submit again only as the second choice', () => {
  assert.deepEqual(explain(new AppError('outcome-unknown', 'x')).actions, ['checkJobs', 'submitAgain']);
});

test('a refused key leads to signing in', () => {
  const { actions, sentence } = explain(new AuthError(401, 'HTTP 401: invalid or revoked API key'));
  assert.match(sentence, /API key or sign-in was not accepted.*Sign in again/);
  assert.equal(actions[0], 'signIn');
});

test('missing credits say what would cost less', () => {
  assert.match(
    explain(new InsufficientCreditsError(402, 'not enough credits')).sentence,
    /: not enough credits\. A shorter/,
  );
});

test('every failure is a sentence, never a code alone', () => {
  const failures = [
    new RemoteError(500, 'HTTP 500: broken'),
    new NetworkError('https://gpu.example.org', new Error('timeout')),
    ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'DEPTH_ZERO_SELF_SIGNED_CERT'].map(system),
  ];
  for (const failure of failures) assert.match(explain(failure).sentence, /^[A-Z].{40,}[.?]$/);
});

test('a host that cannot be reached is named', () => {
  const { kind, sentence } = explain(system('ECONNREFUSED'), 'https://gpu.example.org');
  assert.equal(kind, 'unreachable');
  assert.equal(sentence, 'Could not reach gpu.example.org: nothing answers at that address.');
});

test('a certificate problem is not offered to be tried again', () => {
  assert.deepEqual(explain(system('CERT_HAS_EXPIRED')).actions, ['openLog']);
});
