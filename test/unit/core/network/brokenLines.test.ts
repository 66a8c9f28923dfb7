import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { callbackify } from 'node:util';
import { Multiplexer } from '../../../../src/core/network/multiplexer.ts';
import { ResumableStream } from '../../../../src/core/network/resumableStream.ts';
import { pick, type Random, randomFrom, TIMES } from '../../../random.ts';

const RUNS = 25 * TIMES;
// Much longer than anything on the line takes: an end that waits longer waits forever.
const STUCK_TURNS = 3_000;

/** One end of a line that passes bytes on in pieces, each some turns later, and breaks after some. */
class LineEnd extends Duplex {
  peer: LineEnd | undefined;
  readonly #random: Random;
  #left: number;
  /** Whether the other end does not notice the end of this one. */
  readonly #isSilent: boolean;
  /** Whether it accepts what it passes on later, as the system does for a socket. */
  readonly #isBuffering: boolean;
  #passed = Promise.resolve();
  #demand: (() => void) | undefined;

  constructor(random: Random, lastsFor: number, { isSilent }: { readonly isSilent: boolean }) {
    super({ highWaterMark: pick([1, 4_096, 65_536], random) ?? 1 });
    this.on('error', () => {});
    this.#random = random;
    this.#left = lastsFor;
    this.#isSilent = isSilent;
    this.#isBuffering = random() < 0.5;
  }

  override _read(): void {
    this.#demand?.();
    this.#demand = undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#passed = this.#passed.then(() => this.#pass(chunk));
    if (this.#isBuffering) setImmediate(done);
    else callbackify(() => this.#passed)(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#demand?.();
    done(error);
    if (!this.#isSilent) void this.#endPeer();
  }

  override _final(done: () => void): void {
    callbackify(() => this.#passed)(() => {
      this.peer?.push(null);
      done();
    });
  }

  async #endPeer(): Promise<void> {
    await turns(Math.floor(50 * this.#random()));
    this.peer?.destroy();
  }

  async #pass(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0 && !this.destroyed; ) {
      const { peer } = this;
      if (peer === undefined || peer.destroyed) return;
      const most = pick([7, 1_000, 100_000], this.#random) ?? 7;
      const piece = rest.subarray(0, Math.min(this.#left, 1 + Math.floor(most * this.#random())));
      rest = rest.subarray(piece.length);
      this.#left -= piece.length;
      const isWanted = piece.length === 0 || peer.push(piece);
      if (this.#left === 0) (this.#random() < 0.5 ? this : peer).destroy();
      else if (!isWanted) await new Promise<void>((resolve) => (peer.#demand = resolve));
      if (this.#random() < 0.1) await turn();
    }
  }
}

async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await turn();
}

// No two places that are near each other have the same bytes after them.
const PATTERN = Buffer.from(Uint32Array.from({ length: 70_000 }, (_, at) => Math.imul(at, 0x9e3779b1)).buffer);
const PERIOD = 200_003;

function bytesFrom(at: number, length: number): Buffer {
  const start = at % PERIOD;
  return PATTERN.subarray(start, start + Math.min(length, PERIOD - start));
}

/** What both ends of a stream of a multiplexer have seen. */
interface Watched {
  received: number;
  isEnded: boolean;
}

/** Sends so many bytes and its end, in writes of any size. */
async function send(channel: Duplex, length: number, random: Random): Promise<void> {
  for (let at = 0; at < length; ) {
    const most = pick([10, 3_000, 300_000], random) ?? 1;
    const bytes = bytesFrom(at, Math.min(length - at, 1 + Math.floor(most * random())));
    at += bytes.length;
    if (!channel.write(bytes)) await new Promise((resolve) => channel.once('drain', resolve));
    if (random() < 0.05) await turns(Math.floor(20 * random()));
  }
  channel.end();
}

/** Checks each byte, at any pace. */
async function receive(channel: Duplex, watched: Watched, random: Random): Promise<void> {
  const isSlow = random() < 0.3;
  for await (const bytes of channel.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (let at = 0; at < bytes.length; ) {
      const wanted = bytesFrom(watched.received, bytes.length - at);
      assert.ok(wanted.equals(bytes.subarray(at, at + wanted.length)), `another byte after ${watched.received}`);
      at += wanted.length;
      watched.received += wanted.length;
    }
    if (isSlow) await turns(Math.floor(5 * random()));
  }
  watched.isEnded = true;
}

/** Connects both ends as the tunnel's two sides do. Any part of that may be cut. */
async function connect(client: ResumableStream, job: ResumableStream, random: Random): Promise<boolean> {
  client.detach();
  const asked = client.receivedBytes;
  await turns(Math.floor((pick([10, 200], random) ?? 0) * random()));
  if (random() < 0.1) return false; // the request was lost
  job.detach();
  assert.ok(job.canContinueAfter(asked), `the job's side cannot continue after ${asked}`);
  const lastsFor = (): number => 1 + Math.floor((pick([40, 10_000, 1_000_000, 1e12], random) ?? 1) * random());
  // The client's side notices what has ended; the job's side perhaps by its next connection only.
  const near = new LineEnd(random, lastsFor(), { isSilent: random() < 0.2 });
  const far = new LineEnd(random, lastsFor(), { isSilent: false });
  [near.peer, far.peer] = [far, near];
  const answered = job.receivedBytes;
  job.attach(far, asked);
  await turns(Math.floor(10 * random()));
  if (random() < 0.1) {
    near.destroy(); // the answer was lost, and what the job's side has sent since
    return false;
  }
  assert.ok(client.canContinueAfter(answered), `the client cannot continue after ${answered}`);
  client.attach(near, answered);
  return true;
}

test('whatever is cut, and wherever, each stream ends with every byte once', async () => {
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const random = randomFrom(seed);
    const [client, job] = [new ResumableStream(), new ResumableStream()];
    const watched: Watched[] = [];
    const work: Promise<void>[] = [];
    const use = (channel: Duplex): void => {
      const seen: Watched = { received: 0, isEnded: false };
      watched.push(seen);
      const length = Math.floor((pick([0, 100, 100_000, 3_000_000, 9_000_000], random) ?? 0) * random());
      work.push(send(channel, length, random), receive(channel, seen, random));
    };
    const options = { windowBytes: pick([2 ** 16, 2 ** 20, 2 ** 24], random) ?? 2 ** 20 };
    void new Multiplexer(job, job, { ...options, onChannel: use });
    const near = new Multiplexer(client, client, options);
    const count = 1 + Math.floor(4 * random());
    for (let opened = 0; opened < count; opened += 1) use(near.open());
    const state = { isOver: false, isDetached: false };
    const all = (async () => {
      while (watched.length < 2 * count) await turn();
      await Promise.all(work);
      state.isOver = true;
    })();
    let cuts = 0;
    let [still, seen] = [0, -1];
    while (!state.isOver) {
      state.isDetached = false;
      const onDetach = (): void => void (state.isDetached = true);
      client.once('detach', onDetach);
      if (await connect(client, job, random)) cuts += 1;
      else state.isDetached = true;
      while (!state.isOver && !state.isDetached) {
        await turn();
        const now = watched.reduce((sum, { received, isEnded }) => sum + received + Number(isEnded), 0);
        still = now === seen ? still + 1 : 0;
        seen = now;
        assert.ok(still < STUCK_TURNS, `seed ${seed}: nothing arrives any more after ${cuts} cuts and ${now} bytes`);
      }
      client.off('detach', onDetach);
    }
    await all;
    client.close();
    job.destroy();
  }
});
