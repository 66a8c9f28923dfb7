import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { gather } from '../../../../src/core/network/gather.ts';
import { webSocketStream } from '../../../../src/core/network/webSocketStream.ts';

/** A stream over a WebSocket, and the WebSocket at its other end. */
async function connect(t: TestContext): Promise<{ readonly stream: Duplex; readonly far: WebSocket }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.after(() => server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[WebSocket]>;
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const upgraded = once(socket, 'upgrade') as Promise<[{ readonly socket: Duplex }]>;
  await once(socket, 'open');
  const [{ socket: carrier }] = await upgraded;
  return { stream: webSocketStream(socket, carrier), far: (await accepted)[0] };
}

test('what is written at once arrives as it was written, in few messages', async (t) => {
  const { stream, far } = await connect(t);
  const messages: Buffer[] = [];
  far.on('message', (message: Buffer) => messages.push(message));
  // The first of what a connection sends is in smaller messages.
  const pieces = [65_536, 7, 9, 65_536, 7, 9, 1_000, 65_536, 0, 3].map((length) => randomBytes(length));
  await new Promise((resolve) => stream.write(pieces[0], resolve));
  stream.cork();
  for (const piece of pieces.slice(1)) stream.write(piece);
  stream.uncork();
  stream.end();
  await once(far, 'close');
  assert.ok(Buffer.concat(messages).equals(Buffer.concat(pieces)));
  assert.deepEqual(
    messages.slice(-5).map(({ length }) => length),
    [16, 65_536, 1_016, 65_536, 3],
  );
});

test('a side that does not read is not sent without end', async (t) => {
  const { stream, far } = await connect(t);
  far.pause();
  const piece = Buffer.alloc(65_536);
  let sent = 0;
  const stuck = (): boolean => stream.writableLength > 0;
  for (let idle = 0; idle < 3; idle = stuck() ? idle + 1 : 0) {
    if (!stuck()) sent += piece.length;
    if (!stuck()) stream.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(sent < 64 * 2 ** 20, 'it takes any amount');
  }
  let received = 0;
  far.on('message', (message: Buffer) => (received += message.length)).resume();
  stream.end();
  await once(far, 'close');
  assert.equal(received, sent);
});

test('small pieces become one, large ones are passed on without a copy', () => {
  const large = Buffer.alloc(4_096, 1);
  const gathered = gather([Buffer.from('a'), Buffer.from('b'), large, Buffer.from('c')]);
  assert.deepEqual(gathered.map(String), ['ab', String(large), 'c']);
  assert.equal(gathered[1], large);
  assert.deepEqual(gather([]), []);
  const many = gather(Array.from({ length: 40 }, () => Buffer.alloc(4_000)));
  assert.deepEqual(
    many.map(({ length }) => length),
    [64_000, 64_000, 32_000],
  );
});
