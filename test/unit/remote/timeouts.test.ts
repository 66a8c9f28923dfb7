import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { RemoteClient } from '../../../src/remote/client.ts';
import { NetworkError } from '../../../src/remote/errors.ts';
import { answerJson, KEY, makeFolder, rejection, serve, serveBytes } from './server.ts';

function assertTimeout(error: Error, host: string, cause: RegExp): void {
  assert.ok(error instanceof NetworkError, inspect(error));
  assert.equal(error.host, host);
  assert.ok(error.cause instanceof Error);
  assert.match(error.cause.message, cause);
  assert.equal(error.message, `Request to ${host} timed out: ${error.cause.message}`);
}

const job = { script: 's', maxRuntime: 1 };

test('a service that never answers times out, with either fetch', async (t) => {
  for (const options of [{}, { fetch }]) {
    const { client, host } = await serve(t, () => {}, options);
    assertTimeout(await rejection(client.me({ timeout: 0.1 })), host, /no data for 0\.[12] s/);
  }
});

test('a reused connection is watched as a new one is', async (t) => {
  let asked = 0;
  const { client, host } = await serve(t, (request, response) => {
    asked += 1;
    if (asked === 1) answerJson(response, { port: request.socket.remotePort });
  });
  await client.me();
  assertTimeout(await rejection(client.me({ timeout: { read: 0.1 } })), host, /no data for 0.1 s/);
});

test('bytes that trickle in keep an answer alive, in its head too', async (t) => {
  const { client } = await serveBytes(t, (socket) => {
    void (async () => {
      const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"credits":1}';
      for (const byte of answer) {
        socket.write(byte);
        await sleep(15);
      }
    })();
  });
  const started = performance.now();
  assert.equal((await client.me({ timeout: 0.4 })).credits, 1);
  assert.ok(performance.now() - started > 600); // longer in all than the limit of silence
});

test('silence inside a body times out', async (t) => {
  for (const options of [{}, { fetch }]) {
    const { client, host } = await serve(t, (_request, response) => void response.write('{"a":'), options);
    assertTimeout(await rejection(client.me({ timeout: 0.1 })), host, /no data for/);
  }
});

test('a stalled event stream times out, comments keep it alive', async (t) => {
  const { client, host } = await serve(t, (_request, response) => {
    void (async () => {
      response.write('data: 1\n\n');
      for (let count = 0; count < 8; count++) {
        await sleep(50);
        response.write(': still here\n\n');
      }
      response.write('data: 2\n\n');
    })();
  });
  const seen: unknown[] = [];
  const read = async () => {
    for await (const { data } of client.streamEvents('j', { timeout: { read: 0.25 } })) seen.push(data);
  };
  assertTimeout(await rejection(read()), host, /no data for 0.25 s/);
  assert.deepEqual(seen, [1, 2]);
});

test('a reader that takes its time is not a silent service', async (t) => {
  const { client } = await serve(t, (_request, response) => {
    response.end('data: x\n\n'.repeat(200_000)); // more than all buffers on the way hold
  });
  let count = 0;
  for await (const _event of client.streamEvents('j', { timeout: 0.1 })) {
    if (count++ === 10) await sleep(400);
  }
  assert.equal(count, 200_000);
});

test('a connection that is not made in time times out', async (t) => {
  // TLS is spoken to a server that accepts and says nothing: the handshake never ends.
  const { host } = await serveBytes(t, () => {});
  const secure = host.replace('http:', 'https:');
  await using client = new RemoteClient(secure, KEY);
  const error = await rejection(client.me({ timeout: { connect: 0.15, read: 5 } }));
  assertTimeout(error, secure, /no connection within 0.15 s/);
});

test('the limit of the connection ends with the connection', async (t) => {
  const { client } = await serve(t, (_request, response) => void setTimeout(() => answerJson(response, {}), 300));
  await client.me({ timeout: { connect: 0.1 } });
});

test('an upload whose bytes move slowly does not time out', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  const bytes = 12_000_000;
  await writeFile(archive, Buffer.alloc(bytes));
  const { client } = await serveBytes(t, (socket: Socket) => {
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (received > bytes) {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"job_id":"j"}');
        return;
      }
      socket.pause();
      setTimeout(() => socket.resume(), 5); // 64 KB in 5 ms or more, so about a second in all
    });
  });
  const started = performance.now();
  assert.equal((await client.submitJob(archive, job, { timeout: 0.5 })).job_id, 'j');
  assert.ok(performance.now() - started > 500);
});

test('an upload that the service stops reading times out', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, Buffer.alloc(30_000_000));
  for (const options of [{}, { fetch }]) {
    const { host } = await serveBytes(t, (socket) => socket.pause());
    await using client = new RemoteClient(host, KEY, options);
    assertTimeout(await rejection(client.submitJob(archive, job, { timeout: 0.2 })), host, /no data for/);
  }
});

test("an abort rejects with the signal's reason, before, during and after the head of an answer", async (t) => {
  const { client } = await serve(t, (request, response) => {
    if (request.url !== '/v1/me') response.write('{"a":');
  });
  const reason = new Error('changed my mind');
  assert.equal(await rejection(client.me({ signal: AbortSignal.abort(reason) })), reason);
  for (const call of [
    (signal: AbortSignal) => client.me({ signal }),
    (signal: AbortSignal) => client.getJob('j', { signal }),
  ]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    assert.equal(await rejection(call(controller.signal)), reason);
  }
});

test('timeouts must be above zero', async (t) => {
  const { client } = await serve(t, (_request, response) => answerJson(response, {}));
  for (const timeout of [0, -1, Number.NaN, { connect: 0 }, { read: -1 }]) {
    await assert.rejects(client.me({ timeout }), { code: 'bad-input' });
  }
  await client.me({ timeout: Number.POSITIVE_INFINITY });
  await client.me({ timeout: 1e9 });
});
