import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { RemoteClient } from '../../../../src/remote/client.ts';
import type { KeySource } from '../../../../src/remote/http/bearer.ts';
import { rejection } from '../../rejection.ts';
import { answerJson, serve } from '../server.ts';

/** A client whose keys come one after the other, as long as there are more, for a service that accepts some of them. */
async function start(t: TestContext, keys: string[], statusOf: (authorization: string | undefined) => number) {
  const seen: (string | undefined)[] = [];
  const { host } = await serve(t, (request, response) => {
    const { authorization } = request.headers;
    seen.push(authorization);
    const status = statusOf(authorization);
    answerJson(
      response,
      status === 200 ? { plan: 'team' } : { detail: `not ${authorization?.slice('Bearer '.length)}` },
      status,
    );
  });
  const refused: string[] = [];
  const source: KeySource = {
    current: async () => keys[0] ?? '',
    renew: async (key) => {
      refused.push(key);
      return keys.length > 1 && keys.shift() !== undefined;
    },
  };
  const client = new RemoteClient(host, source);
  t.after(() => client.close());
  return { client, seen, refused };
}

test('a key that the service refuses is renewed, and the request sent again, once', async (t) => {
  const { client, seen, refused } = await start(t, ['old', 'new', 'newer'], (authorization) =>
    authorization === 'Bearer new' ? 200 : 401,
  );
  assert.equal((await client.me()).plan, 'team');
  assert.equal((await client.me()).plan, 'team');
  assert.deepEqual(seen, ['Bearer old', 'Bearer new', 'Bearer new']);
  assert.deepEqual(refused, ['old']);

  const never = await start(t, ['first-key', 'second-key', 'third-key'], () => 401);
  assert.equal((await rejection(never.client.me())).message, 'HTTP 401: not [redacted]');
  assert.deepEqual(never.seen, ['Bearer first-key', 'Bearer second-key']);
});

test('the refusal of the service is the error, if there is no other key or the key is not the reason', async (t) => {
  const last = await start(t, ['only-key'], () => 401);
  assert.match((await rejection(last.client.me())).message, /^HTTP 401: /);
  assert.deepEqual([last.seen, last.refused], [['Bearer only-key'], ['only-key']]);
  for (const status of [403, 404, 500]) {
    const { client, seen, refused } = await start(t, ['first-key', 'second-key'], () => status);
    assert.equal((await rejection(client.me())).message, `HTTP ${status}: not [redacted]`);
    assert.deepEqual([seen, refused], [['Bearer first-key'], []]);
  }
});

test('a key that no header can have is sent nowhere, at first or after a renewal', async (t) => {
  const invalid = { code: 'bad-input', message: /^The API key is empty or contains invalid characters/ };
  for (const key of ['', 'a b', 'a\nb', 'é']) {
    await assert.rejects(async () => new RemoteClient('https://gpu.example.org', key), invalid);
    const first = await start(t, [key], () => 401);
    await assert.rejects(first.client.me(), invalid);
    assert.deepEqual(first.seen, []);
    const renewed = await start(t, ['good', key], () => 401);
    await assert.rejects(renewed.client.me(), invalid);
    assert.deepEqual(renewed.seen, ['Bearer good']);
  }
});
