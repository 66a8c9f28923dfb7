import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECRETS_FEATURE } from '../../../../src/remote/protocol/secret.ts';
import { mayListSecrets, secretFindings } from '../../../../src/jobs/plan/secretFindings.ts';

const account = (features: readonly string[], scopes?: readonly string[] | null) => ({
  credits: 10,
  features,
  ...(scopes === undefined ? {} : { key: { key_id: 'k1', budget: null, expires_at: null, scopes } }),
});

test('the names of secrets are asked for with a key that reaches them, so that a key for jobs alone can still submit', () => {
  assert.equal(mayListSecrets(account([SECRETS_FEATURE], ['submit', 'read'])), false);
  assert.equal(mayListSecrets(account([SECRETS_FEATURE], ['submit', 'secrets'])), true);
  assert.equal(mayListSecrets(account([SECRETS_FEATURE], null)), true);
  assert.equal(mayListSecrets(account([SECRETS_FEATURE])), true);
  assert.equal(mayListSecrets(account([], ['secrets'])), false);
});

test('a job with secrets that it cannot get is refused, with all that are not set', () => {
  const summaries = (secrets: readonly string[], features: readonly string[], secretNames?: readonly string[]) =>
    secretFindings(secrets, { account: account(features), service: 'gpu.example.org', secretNames }).map(
      ({ severity, summary }) => `${severity}: ${summary}`,
    );
  const names = Array.from({ length: 17 }, (_, index) => `TOKEN_${index}`);
  const stores = [SECRETS_FEATURE];
  assert.deepEqual(summaries([], []), []);
  assert.deepEqual(summaries(['A'], []), ['error: gpu.example.org does not store secrets']);
  assert.deepEqual(summaries(names.slice(0, 16), stores), [], 'the names on the service are not known');
  assert.deepEqual(summaries(names, stores), ['error: 17 secrets are too many']);
  assert.deepEqual(summaries(['A', 'a b'], stores), ['error: a b cannot be a secret']);
  assert.deepEqual(summaries(['A', 'B'], stores, ['B', 'A', 'C']), []);
  assert.deepEqual(summaries(['A', 'B'], stores, ['A']), ['error: The secret B is not set on gpu.example.org']);
  assert.deepEqual(summaries(['A', 'B', 'C'], stores, ['B']), [
    'error: The secrets A, C are not set on gpu.example.org',
  ]);
});
