import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ResumableStream } from '../../../../src/core/network/resumableStream.ts';

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Joins two ends by a connection that breaks after so many bytes of either direction, or never; returns once it has broken. */
function join(one: ResumableStream, other: ResumableStream, lastsFor: number): Promise<unknown> {
  for (const end of [one, other]) end.detach();
  const [left, right] = [limited(lastsFor), limited(lastsFor)];
  left.peer = right;
  right.peer = left;
  const [ofOne, ofOther] = [one.receivedBytes, other.receivedBytes];
  assert.ok(one.canContinueAfter(ofOther) && other.canContinueAfter(ofOne));
  const cut = Promise.all([once(left, 'close'), once(right, 'close')]);
  one.attach(left, ofOther);
  other.attach(right, ofOne);
  return cut;
}

/** One end of a connection, which passes on the first bytes of what is written only. */
function limited(lastsFor: number): Duplex & { peer?: Duplex } {
  let left = lastsFor;
  const end: Duplex & { peer?: Duplex } = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      end.peer?.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) for (const each of [end, end.peer]) each?.destroy();
      setImmediate(done);
    },
  });
  return end;
}

function receive(stream: ResumableStream, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    stream.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes >= length) resolve(Buffer.concat(parts));
    });
  });
}

test('nothing is lost or doubled over connections that break anywhere', async () => {
  const [one, other] = [new ResumableStream(), new ResumableStream()];
  const sent = [randomBytes(600_000), randomBytes(400_000)] as const;
  const received = Promise.all([receive(one, sent[1].length), receive(other, sent[0].length)]);
  one.write(sent[0]);
  for (let at = 0; at < sent[1].length; at += 999) other.write(sent[1].subarray(at, at + 999));
  let cuts = 0;
  for (let length = 1; ; length = (length * 7 + 3) % 20_011) {
    const next = await Promise.race([join(one, other, length), received.then(() => 'done' as const)]);
    if (next === 'done') break;
    cuts += 1;
  }
  const [toOne, toOther] = await received;
  assert.deepEqual([digest(toOne), digest(toOther)], [digest(sent[1]), digest(sent[0])]);
  assert.ok(cuts > 50, String(cuts));
  one.close();
  other.destroy();
});

test('what is written during a cut is bounded, and waits', async () => {
  const stream = new ResumableStream();
  let written = 0;
  const chunk = Buffer.alloc(64 * 1024);
  while (stream.write(chunk, () => (written += chunk.length)) || written > stream.writableLength) {
    await turn();
    if (written > 64 * 2 ** 20) assert.fail('it takes any amount');
  }
  assert.ok(written <= 4 * 2 ** 20, String(written));
  stream.destroy();
});

test('an end on purpose ends the other side, a break does not, and what was never sent cannot be continued', async () => {
  const [one, other] = [new ResumableStream(), new ResumableStream()];
  other.resume();
  const [left, right] = duplexPair();
  one.attach(left, 0);
  other.attach(right, 0);
  const detached = once(other, 'detach');
  left.destroy();
  right.destroy();
  await detached;
  assert.equal(other.destroyed, false);
  assert.equal(other.canContinueAfter(1), false);
  assert.equal(other.canContinueAfter(-1), false);
  assert.equal(other.canContinueAfter(Number.NaN), false);
  const [again, end] = duplexPair();
  one.attach(again, 0);
  other.attach(end, 0);
  const closed = once(other, 'close');
  one.close();
  await closed;
  assert.equal(other.canContinueAfter(0), false);
});

test('both sides continue although each has sent more than it keeps, on a line that takes everything at once', async () => {
  const ends = [new ResumableStream(), new ResumableStream()] as const;
  const chunk = Buffer.alloc(64 * 1024, 'a');
  const count = 150;
  const received = Promise.all(ends.map((end) => receive(end, count * chunk.length)));
  for (const end of ends) for (let at = 0; at < count; at += 1) end.write(chunk);
  await turn();
  const [left, right] = [buffering(), buffering()];
  left.peer = right;
  right.peer = left;
  ends[0].attach(left, 0);
  ends[1].attach(right, 0);
  assert.deepEqual(
    (await received).map(digest),
    Array<string>(2).fill(digest(Buffer.alloc(count * chunk.length, 'a'))),
  );
  for (const end of ends) end.destroy();
});

/** One end of a connection that accepts any amount, and passes it on later. */
function buffering(): Duplex & { peer?: Duplex } {
  let last = Promise.resolve();
  const end: Duplex & { peer?: Duplex } = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      last = last.then(() => turn()).then(() => void end.peer?.push(chunk));
      done();
    },
  });
  return end;
}
