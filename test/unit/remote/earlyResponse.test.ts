import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { RemoteClient } from '../../../src/remote/client.ts';
import { rejection } from '../rejection.ts';
import { KEY, makeFolder } from './server.ts';

const JOB = { script: 's', maxRuntime: 1 };
const TLS = join(import.meta.dirname, '../../fixtures/tls');
const READ = 0;
const CLOSED = 1;

/**
 * A server in a thread of its own, so that it responds and closes while the client's thread is busy: it reads some of the upload, then
 * sends `response` and closes the connection with the rest unread. The kernel then resets the connection, and the client's next
 * write fails before the client has read the response.
 */
const SERVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const state = new Int32Array(workerData.state);
  const { isSecure, cert, key } = workerData;
  let connection;
  const onSocket = (socket) => {
    let received = 0;
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      received += bytes.length;
      if (received < workerData.readBytes) return;
      socket.pause().removeAllListeners('data');
      Atomics.store(state, ${READ}, 1);
      socket.write(workerData.response, () => {
        setTimeout(() => {
          connection.resetAndDestroy();
          connection.once('close', () => {
            Atomics.store(state, ${CLOSED}, 1);
            Atomics.notify(state, ${CLOSED});
          });
        }, 50);
      });
    });
  };
  const server = isSecure
    ? require('node:tls').createServer({ cert, key }, onSocket)
    : require('node:net').createServer(onSocket);
  server.on('connection', (socket) => {
    connection = socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

interface EarlyServer {
  readonly client: RemoteClient;
  /** Blocks this thread until the server has responded and closed, once it has read what it reads. */
  readonly blockUntilClosed: () => void;
}

async function serveEarly(t: TestContext, response: string, isSecure: boolean): Promise<EarlyServer> {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const cert = await readFile(join(TLS, 'cert.pem'), 'utf8');
  const key = await readFile(join(TLS, 'key.pem'), 'utf8');
  const workerData = { state: state.buffer, response, readBytes: 1_500_000, isSecure, cert, key };
  const worker = new Worker(SERVER, { eval: true, workerData });
  t.after(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const client = isSecure
    ? new RemoteClient(`https://localhost:${port}`, KEY, { agent: new Agent({ ca: cert }) })
    : new RemoteClient(`http://127.0.0.1:${port}`, KEY);
  t.after(() => client.close());
  return {
    client,
    blockUntilClosed: () => {
      if (Atomics.load(state, READ) === 1) Atomics.wait(state, CLOSED, 0, 10_000);
    },
  };
}

async function submitError(t: TestContext, response: string, isSecure = false): Promise<Error> {
  const archive = join(await makeFolder(t), 'workspace.tar.gz');
  await writeFile(archive, Buffer.alloc(40_000_000, 'a'));
  const { client, blockUntilClosed } = await serveEarly(t, response, isSecure);
  return rejection(client.submitJob(archive, JOB, { onProgress: blockUntilClosed }));
}

for (const [status, message, isSecure] of [
  [413, 'HTTP 413: too large', false],
  [401, 'HTTP 401: too large', false],
  [413, 'HTTP 413: too large', true],
] as const) {
  const how = isSecure ? ' over TLS' : '';
  test(`a ${status}${how} that arrived before the connection was reset is the error of the upload`, async (t) => {
    const body = '{"detail":"too large"}';
    const head = `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
    assert.equal((await submitError(t, head + body, isSecure)).message, message);
  });
}

test('a status whose body the reset has cut off is the error of the upload', async (t) => {
  const head = 'HTTP/1.1 413 Too Large\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{"det';
  assert.equal((await submitError(t, head)).message, 'HTTP 413: Too Large');
});

test('a connection that is reset without a response stays a connection error', async (t) => {
  const error = await submitError(t, '\r\n');
  assert.ok('code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE'), String(error));
});
