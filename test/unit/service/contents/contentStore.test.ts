import assert from 'node:assert/strict';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { NAME_BYTES, nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { ContentStore } from '../../../../src/service/contents/contentStore.ts';
import { PackReader } from '../../../../src/service/contents/packReader.ts';

const GB = 1e9;
const DAY_MS = 24 * 3_600_000;
// The least that a piece counts.
const LEAST_BYTES = 4096;

const pieceOf = (text: string) => ({ name: nameOfPiece(Buffer.from(text)), frame: zstdCompressSync(text) });

function open(t: TestContext) {
  const data = mkdtempSync(join(tmpdir(), 'farwharf-contents-'));
  t.after(() => rmSync(data, { recursive: true }));
  const store = new ContentStore(data);
  const add = async (text: string, maxBytes = GB, account = 'ada'): Promise<Buffer> => {
    const piece = pieceOf(text);
    await store.add(account, [piece], maxBytes);
    return piece.name;
  };
  const files = (): string[] => globSync('contents/*/*.pack', { cwd: data }).map((path) => join(data, path));
  /** The pack of a piece that was added alone. */
  const fileOf = (text: string): string =>
    files().find((path) => readFileSync(path).includes(zstdCompressSync(text))) ?? 'missing';
  return { data, store, add, files, fileOf };
}

async function read(store: ContentStore, name: Buffer, account = 'ada'): Promise<string | undefined> {
  await using reader = new PackReader();
  return (await store.read(account, name, reader))?.bytes.toString();
}

test('a piece is what its name says, and belongs to one account', async (t) => {
  const { data, store, add, files } = open(t);
  const name = await add('hello');
  assert.equal(await read(store, name), 'hello');
  assert.deepEqual(await store.lacking('ada', [name, Buffer.alloc(32)]), [false, true]);
  assert.deepEqual(await store.lacking('bob', [name]), [true]);
  assert.equal(await read(store, name, 'bob'), undefined);
  const other = nameOfPiece(Buffer.from('other'));
  const refused = { code: 'bad-input', message: /do not have its SHA-256/ };
  const addFrame = (frame: Buffer, named: Buffer): Promise<void> => store.add('ada', [{ name: named, frame }], GB);
  await assert.rejects(addFrame(zstdCompressSync('hello'), other), refused);
  await assert.rejects(addFrame(Buffer.from('no frame'), other), refused);
  const bomb = Buffer.alloc(100_000_000);
  await assert.rejects(addFrame(zstdCompressSync(bomb), nameOfPiece(bomb)), refused);
  // RFC 8878: a window of 128 MB, and one block with the five bytes as they are.
  const greedy = Buffer.from('28b52ffd0088290000' + Buffer.from('greed').toString('hex'), 'hex');
  assert.equal(zstdDecompressSync(greedy).toString(), 'greed');
  await assert.rejects(addFrame(greedy, nameOfPiece(Buffer.from('greed'))), refused);
  const wrong = { ...pieceOf('wrong'), name: other };
  await assert.rejects(store.add('ada', [pieceOf('right'), wrong], GB), refused);
  assert.deepEqual(await store.lacking('ada', [pieceOf('right').name]), [true], 'a request is stored as a whole');
  assert.equal(files().length, 1);
  assert.equal(await read(new ContentStore(data), name), 'hello', 'after a restart');
});

test('the pieces of a request are one file, and those that the account has are not stored again', async (t) => {
  const { data, store, files } = open(t);
  const texts = Array.from({ length: 500 }, (_, index) => `text ${index} `.repeat(index + 1));
  const pieces = texts.map((text) => pieceOf(text));
  await store.add('ada', [...pieces.slice(0, 300), ...pieces.slice(0, 10)], GB);
  await store.add('ada', pieces.slice(200, 250), GB);
  assert.equal(files().length, 1);
  await store.add('ada', pieces, GB);
  const [, second] = files().toSorted();
  assert.equal(files().length, 2);
  const later = pieces.slice(300).reduce((sum, { frame }) => sum + frame.length, 0);
  assert.ok(readFileSync(second ?? '').length < later + 200 * 50, 'only those that were lacking');
  await using reader = new PackReader();
  const again = new ContentStore(data);
  for (const [index, { name }] of [...pieces.entries()].toReversed()) {
    assert.equal((await again.read('ada', name, reader))?.bytes.toString(), texts[index]);
  }
});

test('a piece that was damaged on the disk counts as lacking when it is read, and can be sent again', async (t) => {
  const { data, store, add, fileOf } = open(t);
  const names = await Promise.all(['one', 'two', 'three'].map((text) => add(text)));
  const [one, two, three] = names as [Buffer, Buffer, Buffer];
  truncateSync(fileOf('one'), 5);
  const changed = readFileSync(fileOf('two'));
  changed[8] = (changed[8] ?? 0) ^ 1;
  writeFileSync(fileOf('two'), changed);
  const listName = nameOfPiece(three);
  await store.add('ada', [{ name: listName, frame: zstdCompressSync(three) }], GB);
  assert.deepEqual(await store.lackingLists('ada', [listName, three]), [false, true]);
  assert.deepEqual(await store.lacking('ada', [one]), [true], 'a file that was cut off');
  assert.equal(await read(store, two), undefined);
  assert.deepEqual(await store.lacking('ada', [two]), [true]);
  await add('one');
  assert.equal(await read(store, one), 'one');
  rmSync(fileOf('three'));
  assert.deepEqual(await store.lackingLists('ada', [listName]), [true], 'a piece of the list is gone');
  for (const path of globSync('contents/*/*.pack', { cwd: data })) truncateSync(join(data, path), 20);
  const restarted = new ContentStore(data);
  assert.deepEqual(await restarted.lacking('ada', [one, two, three]), [true, true, true]);
  await restarted.add('ada', [pieceOf('one')], GB);
  assert.equal(await read(restarted, one), 'one');
});

test('an account cannot fill the disk: the pieces that were not used for longest make room, those in use never', async (t) => {
  const { store, add, fileOf, files } = open(t);
  const text = (index: number): string => `${index} `.repeat(50) + String(index * 7_919);
  const most = 10 * LEAST_BYTES;
  const names: Buffer[] = [];
  for (let index = 10; index < 19; index += 1) names.push(await add(text(index), most));
  await assert.rejects(
    async () => {
      for (let index = 20; index < 30; index += 1) await add(text(index), most);
    },
    { code: 'limit', message: /Send the archive instead/ },
  );
  const before = files().length;
  for (let index = 10; index < 19; index += 1) utimesSync(fileOf(text(index)), 1_000, 1_000);
  await store.lacking('ada', [names[0] ?? Buffer.alloc(32)]);
  await add(text(40), most);
  assert.ok(files().length < before);
  assert.deepEqual(await store.lacking('ada', names.slice(0, 1)), [false], 'it was just asked about');
  assert.equal((await store.lacking('ada', names)).includes(true), true);
  await add(text(40), most, 'bob');
});

test('lists that name too many pieces are refused before the disk is searched for all of them', async (t) => {
  const { store } = open(t);
  const names = Buffer.concat(Array.from({ length: 8_192 }, () => Buffer.alloc(NAME_BYTES)));
  const pieces = Array.from({ length: 130 }, (_, index) => {
    names.writeUInt32LE(index, 0);
    return { name: nameOfPiece(names), frame: zstdCompressSync(names) };
  });
  await store.add('ada', pieces, GB);
  const lists = pieces.map(({ name }) => name);
  assert.deepEqual(await store.lackingLists('ada', lists.slice(0, 1)), [true]);
  const same = Array.from({ length: 200 }, () => lists[0] ?? names);
  assert.deepEqual(new Set(await store.lackingLists('ada', same)), new Set([true]));
  await assert.rejects(store.lackingLists('ada', lists), { code: 'limit', message: /more than 1,048,576 pieces/ });
});

test('the sweep deletes what was not used for two weeks, what a killed service was writing, and what earlier versions stored', async (t) => {
  const { store, add, fileOf, files } = open(t);
  const [old, recent] = await Promise.all([add('old'), add('recent')]);
  const folder = dirname(fileOf('old'));
  const unfinished = join(folder, 'x.pack.tmp');
  writeFileSync(unfinished, 'half');
  mkdirSync(join(folder, 'ab'));
  writeFileSync(join(folder, 'ab', 'ab'.repeat(32)), 'a piece');
  const ago = (days: number): number => (Date.now() - days * DAY_MS) / 1_000;
  utimesSync(fileOf('old'), ago(15), ago(15));
  utimesSync(fileOf('recent'), ago(13), ago(13));
  for (const path of [unfinished, join(folder, 'ab')]) utimesSync(path, ago(2), ago(2));
  await store.sweep(Date.now());
  assert.equal(files().length, 1);
  assert.deepEqual(globSync('*', { cwd: folder }).length, 1);
  assert.deepEqual(await store.lacking('ada', [old, recent]), [true, false]);
});

test('reading a piece frees the one that was read before, but not the same piece', async (t) => {
  const { store, add } = open(t);
  const [long, short] = [await add('long '.repeat(50_000)), await add('short')];
  await using reader = new PackReader();
  const first = await store.read('ada', long, reader);
  assert.equal((await store.read('ada', long, reader))?.bytes.length, 250_000);
  assert.equal(first?.bytes.length, 250_000);
  assert.equal((await store.read('ada', short, reader))?.bytes.toString(), 'short');
  assert.equal(first.bytes.length, 0);
  assert.equal((await store.read('ada', long, reader))?.bytes.toString(), 'long '.repeat(50_000));
});
