import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECRETS_FEATURE } from '../../../../src/remote/protocol/secret.ts';
import { mayListSecrets } from '../../../../src/jobs/submit/secretFindings.ts';

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
