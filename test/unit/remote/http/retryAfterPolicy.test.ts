import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import { rejection } from '../../rejection.ts';
import { answerJson, makeFolder, serve } from '../server.ts';
import { GUARD_MS } from '../../timeLimits.ts';

function putOff(response: ServerResponse, retryAfter: string): void {
  response.setHeader('retry-after', retryAfter);
  answerJson(response, { detail: 'Too fast.' }, 429);
}

test('without retryAfter a service that asks to wait is an error with the seconds', async (t) => {
  let asked = 0;
  const { client } = await serve(t, (_request, response) => {
    asked += 1;
    putOff(response, '7');
  });
  const error = await rejection(client.me());
  assert.ok(error instanceof RemoteError);
  assert.deepEqual([error.status, error.message, error.retryAfter, asked], [429, 'HTTP 429: Too fast.', 7, 1]);
});

test('a client with retryAfter waits as long as it is asked to, says so, and asks again', async (t) => {
  const times: number[] = [];
  const waits: [number, string][] = [];
  const { client } = await serve(
    t,
    (_request, response) => {
      times.push(performance.now());
      if (times.length === 1) putOff(response, '1');
      else answerJson(response, { plan: 'team' });
    },
    { retryAfter: { onWait: (seconds, reason) => waits.push([seconds, reason]) } },
  );
  assert.equal((await client.me()).plan, 'team');
  assert.deepEqual(waits, [[1, 'Too fast.']]);
  const [first = 0, second = 0] = times;
  assert.ok(second - first >= 990, String(second - first));
});

test('a submit that was put off is sent again, all of it', async (t) => {
  const archive = join(await makeFolder(t), 'workspace.tar.gz');
  await writeFile(archive, Buffer.alloc(300_000, 7));
  const sizes: number[] = [];
  const { client } = await serve(
    t,
    (request, response) => {
      let size = 0;
      request.on('data', (chunk: Buffer) => (size += chunk.length));
      request.once('end', () => {
        sizes.push(size);
        if (sizes.length === 1) putOff(response, '0');
        else answerJson(response, { job_id: 'j1' }, 201);
      });
    },
    { retryAfter: {} },
  );
  assert.equal((await client.submitJob(archive, { script: 'a.sh', maxRuntime: 60 })).job_id, 'j1');
  const [first = 0, second = 0] = sizes;
  assert.ok(first > 300_000 && second === first, sizes.join());
});

test('the client waits at most as long as retryAfter, only for a 429, and only if it has a time', async (t) => {
  let answer = (response: ServerResponse): void => putOff(response, '61');
  let asked = 0;
  const { client } = await serve(
    t,
    (_request, response) => {
      asked += 1;
      answer(response);
    },
    { retryAfter: { maxSeconds: 60 } },
  );
  await assert.rejects(client.me(), { status: 429, retryAfter: 61 });
  answer = (response) => answerJson(response, { detail: 'Too fast.' }, 429);
  await assert.rejects(client.me(), { status: 429, retryAfter: undefined });
  answer = (response) => answerJson(response.setHeader('retry-after', '1'), {}, 503);
  await assert.rejects(client.me(), { status: 503 });
  assert.equal(asked, 3);
});

test('a service that puts off without a wait is not asked for ever, nor many times a second', async (t) => {
  let asked = 0;
  const { client } = await serve(
    t,
    (_request, response) => {
      asked += 1;
      putOff(response, '0');
    },
    { retryAfter: { maxSeconds: 2 } },
  );
  await assert.rejects(client.me({ signal: AbortSignal.timeout(GUARD_MS) }), { status: 429 });
  assert.equal(asked, 3);
});

test('waiting ends with its signal, and with the client', async (t) => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const { client } = await serve(t, (_request, response) => putOff(response, '600'), {
    retryAfter: { onWait: () => stop.abort(reason) },
  });
  assert.equal(await rejection(client.me({ signal: stop.signal })), reason);

  const other = await serve(t, (_request, response) => putOff(response, '600'), {
    retryAfter: { onWait: () => void other.client.close() },
  });
  await assert.rejects(other.client.me(), { code: 'bad-input', message: /closed/ });
});
