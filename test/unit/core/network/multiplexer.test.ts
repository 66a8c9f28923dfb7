import assert from 'node:assert/strict';
import { type Duplex, PassThrough, Transform } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { Multiplexer } from '../../../../src/core/network/multiplexer.ts';

/** Two ends of a connection; the second one handles channels with `onChannel`. */
function connect(onChannel: (channel: Duplex) => void) {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const far = new Multiplexer(there, back, { onChannel });
  return { near: new Multiplexer(back, there), far, there, back };
}

const closed = (channel: Duplex): Promise<void> => new Promise((resolve) => channel.once('close', resolve));
const echo = (channel: Duplex): void => void pipeline(channel, channel).catch(() => {});

test('channels carry more than a window both ways, at once, and end on their own', async () => {
  const { near } = connect(echo);
  const sent = [1, 2, 3].map((seed) => Buffer.alloc(9_000_000, seed));
  const received = await Promise.all(
    sent.map((bytes) => {
      const channel = near.open();
      channel.end(bytes);
      return buffer(channel);
    }),
  );
  assert.ok(received.every((bytes, index) => bytes.equals(sent[index] ?? Buffer.alloc(0))));
});

test('a channel that nobody reads holds up no other', async () => {
  const { near } = connect((channel) => {
    channel.once('readable', () => {
      const name = String(channel.read(1));
      if (name !== 's') channel.end('answer');
    });
  });
  const stuck = near.open();
  stuck.write('s');
  stuck.write(Buffer.alloc(20_000_000));
  const other = near.open();
  other.end('x');
  assert.equal(await text(other), 'answer');
  assert.ok(stuck.writableLength > 0);
});

test('waiting for a slow connection leaves no listeners behind', async () => {
  const slow = () =>
    new Transform({ transform: (chunk: Buffer, _encoding, done) => void setImmediate(done, null, chunk) });
  const [there, back] = [slow(), slow()];
  void new Multiplexer(there, back, { onChannel: echo });
  const near = new Multiplexer(back, there);
  const before = there.listenerCount('close');
  const channel = near.open();
  channel.end(Buffer.alloc(9_000_000));
  await buffer(channel);
  assert.equal(there.listenerCount('close'), before);
});

test('a side that sends more than its window loses the connection', async () => {
  const { near, back } = connect(echo);
  near.open();
  const frame = Buffer.alloc(9 + 65_536);
  frame.writeUInt32BE(1, 0);
  frame.writeUInt8(2, 4);
  frame.writeUInt32BE(65_536, 5);
  for (let sent = 0; sent < 5_000_000; sent += 65_536) back.write(frame);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(near.isClosed, true);
});

test('a broken connection fails every channel, and later ones', async () => {
  const { near, there, back } = connect(echo);
  const channel = near.open();
  const failed = closed(channel);
  back.destroy();
  await failed;
  assert.equal(channel.errored instanceof Error && 'code' in channel.errored && channel.errored.code, 'ECONNRESET');
  assert.throws(() => near.open(), { code: 'ECONNRESET' });
  there.destroy();
});

test('a destroyed channel is reset on the other side', async () => {
  const { promise, resolve } = Promise.withResolvers<Duplex>();
  const { near } = connect(resolve);
  const channel = near.open();
  const other = await promise;
  other.resume();
  channel.destroy();
  await closed(other);
  assert.notEqual(other.errored, null);
});

test('what is not this protocol closes the connection, and channels that nobody expects are refused', async () => {
  const { near, back } = connect(echo);
  back.write('HTTP/1.1 400 Bad Request\r\n\r\n');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(near.isClosed, true);

  const [there, other] = [new PassThrough(), new PassThrough()];
  void new Multiplexer(there, other);
  const refused = new Multiplexer(other, there).open();
  refused.resume();
  await closed(refused);
});

test('a connection is closed once, and then opens nothing', async () => {
  const [there, back] = [new PassThrough(), new PassThrough()];
  let closes = 0;
  const near = new Multiplexer(back, there, { onClose: () => (closes += 1) });
  const channel = near.open();
  const failed = new Promise<unknown>((resolve) => channel.once('error', resolve));
  assert.equal(near.isClosed, false);
  near.close();
  near.close();
  back.destroy();
  there.destroy();
  await closed(channel);
  assert.equal(Reflect.get((await failed) as object, 'code'), 'ECONNRESET');
  assert.deepEqual([closes, near.isClosed], [1, true]);
  assert.throws(() => near.open(), { code: 'ECONNRESET' });
});

const OPEN = 1;
const DATA = 2;
const END = 3;
const RESET = 4;
const CREDIT = 5;

function frame(id: number, type: number, amount: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9);
  header.writeUInt32BE(id, 0);
  header.writeUInt8(type, 4);
  header.writeUInt32BE(amount, 5);
  return Buffer.concat([header, data]);
}

/** The frames that one side has sent, without their data. */
function framesIn(bytes: Buffer): { id: number; type: number; amount: number }[] {
  const frames: { id: number; type: number; amount: number }[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const [id, type, amount] = [bytes.readUInt32BE(at), bytes.readUInt8(at + 4), bytes.readUInt32BE(at + 5)];
    frames.push({ id, type, amount });
    at += 9 + (type === DATA ? amount : 0);
  }
  return frames;
}

/** One end of a connection whose other end is bare bytes. */
function bareConnection(onChannel?: (channel: Duplex) => void) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const sent: Buffer[] = [];
  output.on('data', (bytes: Buffer) => sent.push(bytes));
  const near = new Multiplexer(input, output, onChannel === undefined ? {} : { onChannel });
  return { near, input, output, frames: () => framesIn(Buffer.concat(sent)) };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('frames may arrive in single bytes', async () => {
  const channels: Duplex[] = [];
  const { input, near } = bareConnection((channel) => channels.push(channel));
  const bytes = [frame(7, OPEN, 0), frame(7, DATA, 5, Buffer.from('hello')), frame(7, DATA, 0), frame(7, END, 0)];
  for (const byte of Buffer.concat(bytes)) input.write(Buffer.of(byte));
  const [channel] = channels;
  assert.ok(channel !== undefined);
  channel.end();
  assert.equal(await text(channel), 'hello');
  assert.deepEqual([channels.length, near.isClosed], [1, false]);
});

test('a frame of 64 KB is the largest, and types of frames are 1 to 5', async () => {
  const largest = bareConnection(echo);
  largest.input.write(frame(1, OPEN, 0));
  largest.input.write(frame(1, DATA, 65_536, Buffer.alloc(65_536)));
  largest.input.write(frame(1, CREDIT, 0xffff_ffff));
  await nextTurn();
  assert.equal(largest.near.isClosed, false);
  for (const hostile of [frame(1, DATA, 65_537), frame(1, 0, 0), frame(1, 6, 0)]) {
    const { near, input } = bareConnection(echo);
    input.write(hostile);
    await nextTurn();
    assert.equal(near.isClosed, true);
  }
});

test('what belongs to no channel is ignored', async () => {
  const { near, input, frames } = bareConnection(echo);
  for (const type of [DATA, END, RESET, CREDIT]) input.write(frame(9, type, 0));
  await nextTurn();
  assert.deepEqual([near.isClosed, frames()], [false, []]);
});

test('a channel that is open already, and one above 256, is refused', async () => {
  const opened: Duplex[] = [];
  const { input, frames } = bareConnection((channel) => opened.push(channel));
  for (let id = 1; id <= 256; id += 1) input.write(frame(id, OPEN, 0));
  await nextTurn();
  assert.deepEqual([opened.length, frames()], [256, []]);
  input.write(frame(5, OPEN, 0));
  input.write(frame(257, OPEN, 0));
  await nextTurn();
  const refusals = [5, 257].map((id) => ({ id, type: RESET, amount: 0 }));
  assert.deepEqual([opened.length, frames()], [256, refusals]);
  input.write(frame(5, RESET, 0));
  await nextTurn();
  input.write(frame(257, OPEN, 0));
  await nextTurn();
  assert.equal(opened.length, 257);
});

test('a side that opens channels where none are expected, and does not read, loses the connection', async () => {
  const { near, input, output } = bareConnection();
  output.removeAllListeners('data').pause();
  const openings = Buffer.concat(Array.from({ length: 4_000 }, (_, index) => frame(index + 1, OPEN, 0)));
  for (let count = 0; count < 10; count += 1) input.write(openings);
  await nextTurn();
  assert.equal(near.isClosed, true);
  assert.ok(output.writableLength + output.readableLength < 200_000, 'nothing piles up');
});

test('a side sends four megabytes, and more only when it is allowed to', async () => {
  const { near, input, frames } = bareConnection();
  const channel = near.open();
  channel.end(Buffer.alloc(4 * 2 ** 20 + 10));
  const sentBytes = (): number => frames().reduce((sum, { type, amount }) => sum + (type === DATA ? amount : 0), 0);
  const hasEnded = (): boolean => frames().some(({ type }) => type === END);
  while (sentBytes() < 4 * 2 ** 20) await nextTurn();
  await nextTurn();
  assert.deepEqual([sentBytes(), hasEnded()], [4 * 2 ** 20, false]);
  input.write(frame(1, CREDIT, 4));
  while (sentBytes() < 4 * 2 ** 20 + 4) await nextTurn();
  await nextTurn();
  assert.deepEqual([sentBytes(), hasEnded()], [4 * 2 ** 20 + 4, false]);
  input.write(frame(1, CREDIT, 6));
  while (!hasEnded()) await nextTurn();
  assert.equal(sentBytes(), 4 * 2 ** 20 + 10);
  assert.ok(frames().every(({ amount }) => amount <= 65_536));
});

test('a reader allows as much as it has read, once that is a quarter of the window', async () => {
  const channels: Duplex[] = [];
  const { input, frames } = bareConnection((channel) => channels.push(channel.resume()));
  input.write(frame(1, OPEN, 0));
  const piece = Buffer.alloc(65_536);
  for (let count = 0; count < 15; count += 1) input.write(frame(1, DATA, piece.length, piece));
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  assert.deepEqual(frames(), []);
  input.write(frame(1, DATA, piece.length, piece));
  while (frames().length === 0) await nextTurn();
  assert.deepEqual(frames(), [{ id: 1, type: CREDIT, amount: 2 ** 20 }]);
});

test('channels are numbered, and one that both sides have ended is closed without a reset', async () => {
  const { near, input, frames } = bareConnection();
  near.open().resume();
  const channel = near.open();
  channel.resume().end('x');
  await nextTurn();
  input.write(frame(2, END, 0));
  await closed(channel);
  assert.deepEqual(frames(), [
    { id: 1, type: OPEN, amount: 0 },
    { id: 2, type: OPEN, amount: 0 },
    { id: 2, type: DATA, amount: 1 },
    { id: 2, type: END, amount: 0 },
  ]);
});

test('a channel is silent when no byte was sent or received for the time that was set', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { near } = bareConnection();
  const socket = near.open() as Duplex & { setTimeout(milliseconds: number, onTimeout?: () => void): unknown };
  socket.resume();
  let events = 0;
  let calls = 0;
  socket.on('timeout', () => (events += 1));
  assert.equal(
    socket.setTimeout(1_000, () => (calls += 1)),
    socket,
  );
  t.mock.timers.tick(999);
  assert.equal(events, 0);
  t.mock.timers.tick(1);
  assert.deepEqual([events, calls], [1, 1]);
  socket.setTimeout(1_000);
  socket.setTimeout(0);
  t.mock.timers.tick(5_000);
  assert.deepEqual([events, calls], [1, 1]);
  socket.setTimeout(1_000);
  socket.destroy();
  await closed(socket);
  t.mock.timers.tick(5_000);
  assert.equal(events, 1);
});

test('each byte that was sent or received begins the time of silence anew', async (t) => {
  let begins = 0;
  const timer = { unref: () => timer, refresh: () => (begins += 1) };
  const { near, input } = bareConnection();
  const socket = near.open() as Duplex & { setTimeout(milliseconds: number): unknown };
  socket.resume();
  const { mock } = t.mock.method(globalThis, 'setTimeout', () => timer as unknown as NodeJS.Timeout);
  socket.setTimeout(1_000);
  mock.restore();
  input.write(frame(1, DATA, 1, Buffer.from('x')));
  await nextTurn();
  assert.equal(begins, 1);
  socket.write('y');
  await nextTurn();
  assert.equal(begins, 2);
});

test('a channel has what HTTP clients call on a socket', () => {
  const { near } = bareConnection();
  const socket = near.open() as Duplex & Record<'setKeepAlive' | 'setNoDelay' | 'ref' | 'unref', () => unknown>;
  assert.ok(
    [socket.setKeepAlive(), socket.setNoDelay(), socket.ref(), socket.unref()].every((each) => each === socket),
  );
});

test('each way in which a connection ends closes it, with the reason of a lost connection', async () => {
  const ways: readonly ((connection: ReturnType<typeof bareConnection>) => unknown)[] = [
    ({ input }) => input.end(),
    ({ input }) => input.destroy(),
    ({ input }) => input.destroy(new Error('broken')),
    ({ output }) => output.destroy(),
    ({ output }) => output.destroy(new Error('broken')),
  ];
  for (const end of ways) {
    const connection = bareConnection();
    const channel = connection.near.open();
    const failed = new Promise<unknown>((resolve) => channel.once('error', resolve));
    end(connection);
    const error = await failed;
    assert.ok(error instanceof Error);
    assert.deepEqual([error.message, Reflect.get(error, 'code')], ['The connection was lost.', 'ECONNRESET']);
    assert.equal(connection.near.isClosed, true);
  }
});
