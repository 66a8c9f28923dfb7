import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { NAME_BYTES, nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { ContentStore } from '../../../../src/service/contents/contentStore.ts';
import { PackReader } from '../../../../src/service/contents/packReader.ts';
import { findContents } from '../../../../src/service/contents/submittedContents.ts';

const PIECE = Buffer.from('a piece');
const LIST = Buffer.alloc(16 * NAME_BYTES, nameOfPiece(PIECE));

async function openStore(t: TestContext, pieces: readonly Buffer[]) {
  const data = mkdtempSync(join(tmpdir(), 'farwharf-submitted-'));
  t.after(() => rmSync(data, { recursive: true }));
  const store = new ContentStore(data);
  const framed = pieces.map((piece) => ({ name: nameOfPiece(piece), frame: zstdCompressSync(piece) }));
  await store.add('ada', framed, 1e9);
  const reading: Pick<ContentStore, 'read' | 'locate'> = store;
  const find = (lists: Buffer, { signal = AbortSignal.any([]), from = reading } = {}) =>
    findContents(from, { account: 'ada', submission: lists, maxBytes: 1e9, signal });
  return { store, find };
}

/** The turns that other work gets until `work` is done, on a machine where each look at the clock takes a millisecond. */
async function turnsDuring(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const clock = t.mock.method(performance, 'now', () => (now += 1));
  let turns = 0;
  const done = new AbortController();
  const working = work().finally(() => done.abort());
  while (!done.signal.aborted) {
    await nextTurn();
    turns += 1;
  }
  await working;
  clock.mock.restore();
  return turns;
}

test('a list that a submission names 65,536 times is read once', async (t) => {
  const { store, find } = await openStore(t, [PIECE, LIST]);
  let reads = 0;
  const read: ContentStore['read'] = (...args) => {
    reads += 1;
    return store.read(...args);
  };
  const locate: ContentStore['locate'] = (...args) => store.locate(...args);
  const found = await find(Buffer.alloc(65_536 * NAME_BYTES, nameOfPiece(LIST)), { from: { read, locate } });
  assert.equal(found.pieces.length, 1_048_576);
  assert.equal(reads, 1);
});

test('while many lists and names are read, other requests are answered', async (t) => {
  const lists = Array.from({ length: 1_000 }, (_, index) =>
    Buffer.concat(
      Array.from({ length: index % 30 }, () => nameOfPiece(PIECE)).concat(nameOfPiece(Buffer.from(String(index)))),
    ),
  );
  const pieces = [PIECE, ...lists.map((_, index) => Buffer.from(String(index))), ...lists];
  const { store, find } = await openStore(t, pieces);
  const names = Buffer.concat(lists.map((list) => nameOfPiece(list)));
  const count = lists.reduce((sum, { length }) => sum + length / NAME_BYTES, 0);
  const submitted = await turnsDuring(t, () => find(names));
  // A turn for ten lists, and for ten names that are looked up, twice.
  assert.ok(submitted > (2 * count + lists.length) / 12, `${submitted} turns`);
  const asked = lists.map((list) => nameOfPiece(list));
  const lacking = await turnsDuring(t, async () => assert.ok(!(await store.lackingLists('ada', asked)).includes(true)));
  assert.ok(lacking > (2 * count + lists.length) / 12, `${lacking} turns`);
  await assert.rejects(find(names, { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('a piece that follows itself is unpacked once', async (t) => {
  const { store } = await openStore(t, [PIECE, LIST]);
  await using reader = new PackReader();
  const read = async (piece: Buffer) => store.read('ada', nameOfPiece(piece), reader);
  const first = await read(PIECE);
  assert.equal(await read(PIECE), first);
  assert.ok((await read(LIST))?.bytes.equals(LIST));
  assert.ok((await read(PIECE))?.bytes.equals(PIECE));
});
