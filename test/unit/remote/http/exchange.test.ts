import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { RemoteClient } from '../../../../src/remote/client.ts';
import { NetworkError } from '../../../../src/remote/http/remoteErrors.ts';
import { rejection } from '../../rejection.ts';
import { answerJson, KEY, listen, makeFolder, serve, serveBytes } from '../server.ts';

const HOST = 'https://jobs.example.org';
const TIMEOUT = { connect: 2, read: 1 };

/** A client whose `fetch` lets time pass: seconds until the head of the response, and before each event. */
function slowly(t: TestContext, { headS = 0, eventsS = [0] }: { headS?: number; eventsS?: readonly number[] }) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pass = (seconds: number, signal: AbortSignal | null | undefined): void => {
    t.mock.timers.tick(seconds * 1_000);
    signal?.throwIfAborted();
  };
  return new RemoteClient(HOST, KEY, {
    fetch: async (_url, init) => {
      pass(headS, init?.signal);
      const events = async function* () {
        for (const seconds of eventsS) {
          pass(seconds, init?.signal);
          yield Buffer.from('data: 1\n\n');
        }
      };
      return new Response(ReadableStream.from(events()));
    },
  });
}

const read = (client: RemoteClient): Promise<unknown[]> =>
  Array.fromAsync(client.streamEvents('j', { timeout: TIMEOUT }));

for (const [what, times, limitS] of [
  ['a head that comes within the time for a connection and an answer', { headS: 2.999 }, undefined],
  ['a head that comes later', { headS: 3 }, 3],
  ['a body whose parts come in time', { eventsS: [0.999, 0.999, 0.999] }, undefined],
  ['a body whose first part comes later', { eventsS: [1] }, 1],
  ['a body whose second part comes later', { eventsS: [0.999, 1] }, 1],
] as const) {
  const outcome = limitS === undefined ? 'is read' : `fails after ${limitS} s`;
  test(`${what}, from a fetch of the caller, ${outcome}`, async (t) => {
    const reading = read(slowly(t, times));
    if (limitS === undefined) assert.equal((await reading).length, 'eventsS' in times ? times.eventsS.length : 1);
    else {
      const error = await rejection(reading);
      assert.ok(error instanceof NetworkError);
      assert.equal(error.message, `Request to ${HOST} timed out: no data for ${limitS} s`);
    }
  });
}

test('with a fetch of the caller, a reader that takes its time is not a silent service', async (t) => {
  const client = slowly(t, { eventsS: [0, 0] });
  const seen: unknown[] = [];
  for await (const { data } of client.streamEvents('j', { timeout: TIMEOUT })) {
    seen.push(data);
    t.mock.timers.tick(60_000);
  }
  assert.deepEqual(seen, [1, 1]);
});

test('an upload by a fetch of the caller may take any time, as long as its parts are taken', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, Buffer.alloc(20 << 20));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const send = async (pauseMs: number): Promise<unknown> => {
    const client = new RemoteClient(HOST, KEY, {
      fetch: async (_url, { body, signal } = {}) => {
        for await (const _part of body as unknown as AsyncIterable<unknown>) {
          t.mock.timers.tick(pauseMs);
          signal?.throwIfAborted();
        }
        return Response.json({ job_id: 'j' });
      },
    });
    return client.submitJob(archive, { script: 's', maxRuntime: 1 }, { timeout: TIMEOUT });
  };
  await send(400);
  assert.match((await rejection(send(3_000))).message, /no data for [13] s$/);
});

test('a service that has a whole upload and sends its answer byte by byte does not block a submit', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, 'x');
  const { client } = await serveBytes(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX: ');
    const timer = setInterval(() => socket.write('x'), 5);
    socket.on('close', () => clearInterval(timer));
  });
  const timeout = { total: 0.3 };
  const error = await rejection(client.submitJob(archive, { script: 's', maxRuntime: 1 }, { timeout }));
  assert.match(error.message, /no complete response within 0.3 s$/);
});

test('nothing is left of a request that has ended, however it did', async (t) => {
  const gone = createServer();
  const port = await listen(t, gone);
  await new Promise((resolve) => gone.close(resolve));
  const { host } = await serve(t, (request, response) => {
    if (request.url === '/v1/jobs/cut') response.writeHead(200).write('{', () => response.destroy());
    else answerJson(response, {});
  });
  const clients = [
    new RemoteClient(`http://127.0.0.1:${port}`, KEY),
    new RemoteClient(host, KEY),
    new RemoteClient(host, KEY, { fetch: async () => Response.json({}) }),
    new RemoteClient(host, KEY, { fetch: () => Promise.reject(new Error('no')) }),
  ];
  t.after(() => Promise.all(clients.map((client) => client.close())));
  const { signal } = new AbortController();
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  for (const client of clients) {
    for (const id of ['j', 'cut']) await client.getJob(id, { signal }).catch(() => {});
    assert.ok(timers() <= before, 'a timer of an earlier test may end meanwhile');
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  }
});

test('a service that switches the protocol, or hangs up, is the error of the system, not a wait for the time limit', async (t) => {
  for (const response of ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', '']) {
    const { client } = await serveBytes(t, (socket) => {
      socket.once('data', () => socket.end(response));
    });
    const error = await rejection(client.me());
    assert.equal('code' in error && error.code, 'ECONNRESET', inspect(error));
  }
});
