import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeOf } from '../storeOf.ts';

const ISSUER = 'https://sso.example.org';

test('a person has one account and an account one person, until they are unlinked', (t) => {
  const { identities } = storeOf(t, ['ada', 'bob']).store;
  const ada = { issuer: ISSUER, subject: '1', account: 'ada', linkedAt: 5 };
  identities.link(ada);
  assert.deepEqual(identities.find(ISSUER, '1'), ada);
  assert.deepEqual(identities.ofAccount('ada'), ada);
  for (const [issuer, subject] of [
    [ISSUER, '2'],
    ['https://other.example.org', '1'],
  ] as const) {
    assert.equal(identities.find(issuer, subject), undefined);
    assert.throws(() => identities.link({ ...ada, issuer, subject }), {
      code: 'conflict',
      message: 'The account "ada" is linked to another person. Remove that first:  farwharf admin account unlink ada',
    });
  }
  assert.throws(() => identities.link({ ...ada, account: 'bob' }), {
    code: 'conflict',
    message: 'This person has the account "ada". Remove that first:  farwharf admin account unlink ada',
  });
  assert.equal(identities.ofAccount('bob'), undefined);
  identities.unlink('bob');
  assert.deepEqual(identities.ofAccount('ada'), ada);
  identities.unlink('ada');
  assert.equal(identities.find(ISSUER, '1'), undefined);
  identities.link({ ...ada, account: 'bob' });
  assert.equal(identities.find(ISSUER, '1')?.account, 'bob');
});
