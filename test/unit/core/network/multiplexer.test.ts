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
