import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../../../../../src/service/http/access/keyAuthenticator.ts';
import { OperatorLinks } from '../../../../../src/service/http/page/operatorLinks.ts';
import { SessionTable } from '../../../../../src/service/http/page/pageAccess.ts';

const MINUTE = 60_000;
const OPERATOR = { type: 'operator' } as const;

const person = (id: string) =>
  ({ type: 'person', caller: { account: { id }, key: { id: `key of ${id}` } } as Caller }) as const;

test('a session ends after an hour without a request, and after twelve hours in any case', () => {
  let now = 0;
  const sessions = new SessionTable(() => now);
  const idle = sessions.start(OPERATOR);
  const used = sessions.start(person('ada'));
  for (; now < 12 * 60 * MINUTE; now += 59 * MINUTE) assert.ok(sessions.use(used), `after ${now / MINUTE} minutes`);
  assert.equal(sessions.use(used), undefined, 'twelve hours');
  assert.equal(sessions.use(idle), undefined);
  const last = sessions.start(OPERATOR);
  now += 60 * MINUTE;
  assert.equal(sessions.use(last), undefined, 'an hour');
});

test('a key has ten sessions at most, and takes none from another', () => {
  const sessions = new SessionTable();
  const other = sessions.start(person('bob'));
  const ids = Array.from({ length: 25 }, () => sessions.start(person('ada')));
  assert.deepEqual(
    ids.map((id) => sessions.use(id) !== undefined),
    ids.map((_, index) => index >= 15),
  );
  assert.ok(sessions.use(other));
  sessions.end(other);
  assert.equal(sessions.use(other), undefined);
  assert.equal(sessions.use(''), undefined);
});

test("an operator's link is valid once and for ten minutes, and the last ten of them are", () => {
  let now = 0;
  const links = new OperatorLinks(() => now);
  const { code, lifeMs } = links.create();
  assert.equal(lifeMs, 10 * MINUTE);
  assert.equal(links.use(`${code}x`), false);
  assert.equal(links.use(code), true);
  assert.equal(links.use(code), false);
  const codes = Array.from({ length: 11 }, () => links.create().code);
  now = 10 * MINUTE - 1;
  assert.deepEqual([links.use(codes[0] ?? ''), links.use(codes[1] ?? '')], [false, true]);
  now += 1;
  assert.equal(links.use(codes[2] ?? ''), false);
});
