import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { RemoteClient } from '../../../src/remote/client.ts';
import { NetworkError } from '../../../src/remote/http/remoteErrors.ts';
import { withGrowingLimit } from '../timeLimits.ts';
import { rejection } from '../rejection.ts';
import { answerJson, KEY, makeFolder, serve, serveBytes } from './server.ts';

function assertTimeout(error: Error, host: string, cause: RegExp): void {
  assert.ok(error instanceof NetworkError, inspect(error));
  assert.equal(error.host, host);
  assert.ok(error.cause instanceof Error);
  assert.match(error.cause.message, cause);
  assert.equal(error.message, `Request to ${host} timed out: ${error.cause.message}`);
}

const job = { script: 's', maxRuntime: 1 };

/** A check for any limit, in seconds. */
function withLimit(check: (seconds: number) => Promise<void>): Promise<void> {
  return withGrowingLimit(100, (limitMs) => check(limitMs / 1000));
}

test('a service that never answers times out, with either fetch', async (t) => {
  for (const options of [{}, { fetch }]) {
    const { client, host } = await serve(t, () => {}, options);
    await withLimit(async (timeout) => {
      // With a fetch of the caller's, the time for the connection comes on top.
      const silence = new RegExp(`no data for (${timeout}|${2 * timeout}) s`);
      assertTimeout(await rejection(client.me({ timeout })), host, silence);
    });
  }
});

test('a reused connection is watched as a new one is', async (t) => {
  let asked = 0;
  const ports = new Set<number | undefined>();
  const { client, host } = await serve(t, (request, response) => {
    asked += 1;
    ports.add(request.socket.remotePort);
    if (asked === 1) answerJson(response, {});
  });
  await client.me();
  assertTimeout(await rejection(client.me({ timeout: { read: 0.1 } })), host, /no data for 0.1 s/);
  assert.deepEqual([asked, ports.size], [2, 1]);
});

test('bytes that trickle in keep an answer alive, in its head too', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"credits":1}';
  await withLimit(async (timeout) => {
    const { client } = await serveBytes(t, (socket) => {
      void (async () => {
        for (const byte of answer) {
          socket.write(byte);
          await sleep((1000 * timeout) / 20);
        }
      })();
    });
    const started = performance.now();
    assert.equal((await client.me({ timeout })).credits, 1);
    assert.ok(performance.now() - started > 2000 * timeout); // longer in all than the limit of silence
  });
});

test('silence inside a body times out', async (t) => {
  for (const options of [{}, { fetch }]) {
    const { client, host } = await serve(t, (_request, response) => void response.write('{"a":'), options);
    await withLimit(async (timeout) => assertTimeout(await rejection(client.me({ timeout })), host, /no data for/));
  }
});

test('a stalled event stream times out, comments keep it alive', async (t) => {
  await withLimit(async (limit) => {
    const { client, host } = await serve(t, (_request, response) => {
      void (async () => {
        response.write('data: 1\n\n');
        for (let count = 0; count < 16; count++) {
          await sleep((1000 * limit) / 8);
          response.write(': still here\n\n');
        }
        response.write('data: 2\n\n');
      })();
    });
    const seen: unknown[] = [];
    const read = async () => {
      for await (const { data } of client.streamEvents('j', { timeout: { read: limit } })) seen.push(data);
    };
    assertTimeout(await rejection(read()), host, new RegExp(`no data for ${limit} s`));
    assert.deepEqual(seen, [1, 2]);
  });
});

test('a reader that takes its time is not a silent service', async (t) => {
  const { client } = await serve(t, (_request, response) => {
    response.end('data: x\n\n'.repeat(200_000)); // more than all buffers on the way hold
  });
  await withLimit(async (timeout) => {
    let count = 0;
    for await (const _event of client.streamEvents('j', { timeout })) {
      if (count++ === 10) await sleep(4000 * timeout);
    }
    assert.equal(count, 200_000);
  });
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
  await withLimit(async (connect) => {
    const answerLater: RequestListener = (_request, response) =>
      void setTimeout(() => answerJson(response, {}), 3000 * connect);
    const { client } = await serve(t, answerLater);
    await client.me({ timeout: { connect } });
  });
});

test('an upload whose bytes move slowly does not time out', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  const bytes = 36_000_000;
  await writeFile(archive, Buffer.alloc(bytes));
  await withGrowingLimit(500, async (limitMs) => {
    const { client } = await serveBytes(t, (socket: Socket) => {
      let received = 0;
      socket.on('data', (chunk) => {
        received += chunk.length;
        if (received > bytes) {
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"job_id":"j"}');
          return;
        }
        socket.pause();
        // For each 64 KB, so more than twice the limit in all, and a part of it for what the system holds on the way.
        setTimeout(() => socket.resume(), limitMs / 200);
      });
    });
    const started = performance.now();
    assert.equal((await client.submitJob(archive, job, { timeout: limitMs / 1000 })).job_id, 'j');
    assert.ok(performance.now() - started > 1.5 * limitMs);
  });
});

test('an upload that the service stops reading times out', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, Buffer.alloc(30_000_000));
  for (const options of [{}, { fetch }]) {
    const { host } = await serveBytes(t, (socket) => socket.pause());
    await using client = new RemoteClient(host, KEY, options);
    await withLimit(async (timeout) =>
      assertTimeout(await rejection(client.submitJob(archive, job, { timeout })), host, /no data for/),
    );
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

/** Sends one byte after the other, for as long as the other side listens. */
async function trickle(socket: Socket, begin: string): Promise<void> {
  socket.write(begin);
  for (let isOpen = true; isOpen; isOpen = !socket.destroyed) {
    socket.write(' ');
    await sleep(5);
  }
}

test('a service that sends single bytes slowly cannot block a call forever', async (t) => {
  const heads = [
    'HTTP/1.1 200 OK\r\nX: ',
    'HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n',
    'HTTP/1.1 500 Oh no\r\nContent-Length: 1000000000\r\n\r\n',
  ];
  for (const head of heads) {
    for (const options of [{}, { fetch }]) {
      const { client, host } = await serveBytes(t, (socket) => void trickle(socket, head), options);
      // What has come of a refusal by then is the refusal.
      if (head.includes('500'))
        await withLimit(async (total) => {
          assert.match((await rejection(client.me({ timeout: { total } }))).message, /^HTTP 500: Oh no$/);
          assert.match((await rejection(events(client, total))).message, /^HTTP 500: Oh no$/);
        });
      else
        assertTimeout(
          await rejection(client.me({ timeout: { total: 0.3 } })),
          host,
          /no complete response within 0.3 s/,
        );
    }
  }
});

const events = (client: RemoteClient, total: number): Promise<unknown> =>
  Array.fromAsync(client.streamEvents('j', { timeout: { total } }));

test('an event stream and a download take longer than an answer may', async (t) => {
  const folder = await makeFolder(t);
  for (const options of [{}, { fetch }]) {
    let bodyMs = 0;
    const { client } = await serve(
      t,
      (_request, response) => {
        response.write('data: 1\n\n');
        setTimeout(() => response.end('data: 2\n\n'), bodyMs);
      },
      options,
    );
    // The limit grows until the head of the answer is in time; its body always takes three times as long.
    await withLimit(async (total) => {
      bodyMs = 3_000 * total;
      const seen = await Array.fromAsync(client.streamEvents('j', { timeout: { total } }));
      assert.deepEqual(
        seen.map(({ data }) => data),
        [1, 2],
      );
      await client.downloadArtifacts('j', join(folder, 'results'), { timeout: { total } });
    });
  }
});

test('the time for an answer begins when an upload has left', async (t) => {
  const archive = join(await makeFolder(t), 'archive');
  await writeFile(archive, Buffer.alloc(2_000_000));
  const { client } = await serve(t, (request, response) => {
    void (async () => {
      for await (const chunk of request) await sleep((chunk as Buffer).length / 10_000);
      answerJson(response, { job_id: 'j' });
    })().catch(() => {}); // a limit that was too short has ended the request
  });
  await withLimit(async (total) => {
    // 200 ms of reading at least; the limit grows until the answer itself is in time.
    assert.equal((await client.submitJob(archive, job, { timeout: { total } })).job_id, 'j');
  });
});
