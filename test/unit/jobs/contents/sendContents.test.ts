import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { listNames } from '../../../../src/jobs/contents/archiveContents.ts';
import type { Piece } from '../../../../src/workspace/pack/splitPieces.ts';
import { sendContents } from '../../../../src/jobs/contents/sendContents.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import { nameOfPiece } from '../../../../src/remote/protocol/contents.ts';

/** Nine pieces of 1 MB, and a promise for the moment in which more are read than the first request has. */
function makeContents() {
  const pieces = Array.from({ length: 9 }, (): Piece => {
    const bytes = randomBytes(1 << 20);
    return { name: nameOfPiece(bytes), bytes };
  });
  const read = Promise.withResolvers<void>();
  const contents = {
    lists: listNames(pieces.map(({ name }) => name)),
    async *read(): AsyncGenerator<Piece, void> {
      for (const [index, piece] of pieces.entries()) {
        yield piece;
        if (index === 4) read.resolve(); // the first request has four
        await Promise.resolve();
      }
    },
  };
  return { contents, isReadingOn: read.promise };
}

const ALL_LACKING = Buffer.alloc(2, 0xff);

test('more pieces are prepared while others are sent, and one request at a time sends them', {
  timeout: 30_000,
}, async () => {
  const { contents, isReadingOn } = makeContents();
  let open = 0;
  const progress: number[] = [];
  const service = {
    postContents: async (path: string): Promise<Buffer> => {
      if (path !== 'pieces') return ALL_LACKING;
      open += 1;
      assert.equal(open, 1);
      await isReadingOn;
      open -= 1;
      return Buffer.alloc(0);
    },
  };
  await sendContents(service, contents, { onProgress: (done) => void progress.push(done) });
  assert.equal(open, 0);
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
  );
  assert.equal(progress.at(-1), 9);
});

test('a request that is refused ends the sending', async () => {
  const { contents } = makeContents();
  let requests = 0;
  const service = {
    postContents: async (path: string): Promise<Buffer> => {
      if (path !== 'pieces') return ALL_LACKING;
      requests += 1;
      throw new RemoteError(413, 'HTTP 413: no room');
    },
  };
  await assert.rejects(sendContents(service, contents, { onProgress: () => {} }), { status: 413 });
  assert.equal(requests, 1);
});

test('while a lost connection waits for its next attempt, an abort ends the sending at once', async () => {
  const { contents } = makeContents();
  const stop = new AbortController();
  let requests = 0;
  const service = {
    postContents: (): Promise<Buffer> => {
      requests += 1;
      setImmediate(() => stop.abort());
      return Promise.reject(new Error('the connection was closed'));
    },
  };
  await assert.rejects(sendContents(service, contents, { signal: stop.signal, onProgress: () => {} }), {
    name: 'AbortError',
  });
  assert.equal(requests, 1);
});
