import assert from 'node:assert/strict';
import { globSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { NAME_BYTES, nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { ContentStore } from '../../../../src/service/contents/contentStore.ts';

const GB = 1e9;
const DAY_MS = 24 * 3_600_000;
// What a file takes on most disks, however small it is.
const BLOCK_BYTES = 4096;

function open(t: TestContext) {
  const data = mkdtempSync(join(tmpdir(), 'farwharf-contents-'));
  t.after(() => rmSync(data, { recursive: true }));
  const store = new ContentStore(data);
  const add = async (text: string, maxBytes = GB, account = 'ada'): Promise<Buffer> => {
    const name = nameOfPiece(Buffer.from(text));
    await store.add(account, name, zstdCompressSync(text), maxBytes);
    return name;
  };
  const files = (): string[] => globSync('**/*', { cwd: data }).filter((path) => /[0-9a-f]{64}/.test(path));
  const fileOf = (name: Buffer): string =>
    join(data, globSync(`**/${name.toString('hex')}`, { cwd: data })[0] ?? 'missing');
  return { data, store, add, files, fileOf };
}

test('a piece is what its name says, and belongs to one account', async (t) => {
  const { store, add, files } = open(t);
  const name = await add('hello');
  assert.equal((await store.read('ada', name))?.bytes.toString(), 'hello');
  assert.deepEqual(await store.lacking('ada', [name, Buffer.alloc(32)]), [false, true]);
  assert.deepEqual(await store.lacking('bob', [name]), [true]);
  assert.equal(await store.read('bob', name), undefined);
  const other = nameOfPiece(Buffer.from('other'));
  const refused = { code: 'bad-input', message: /do not have its SHA-256/ };
  await assert.rejects(store.add('ada', other, zstdCompressSync('hello'), GB), refused);
  await assert.rejects(store.add('ada', other, Buffer.from('no frame'), GB), refused);
  const bomb = Buffer.alloc(100_000_000);
  await assert.rejects(store.add('ada', nameOfPiece(bomb), zstdCompressSync(bomb), GB), refused);
  // RFC 8878: a window of 128 MB, and one block with the five bytes as they are.
  const greedy = Buffer.from('28b52ffd0088290000' + Buffer.from('greed').toString('hex'), 'hex');
  assert.equal(zstdDecompressSync(greedy).toString(), 'greed');
  await assert.rejects(store.add('ada', nameOfPiece(Buffer.from('greed')), greedy, GB), refused);
  assert.equal(files().length, 1);
});

test('a piece that was damaged on the disk counts as lacking when it is read, and can be sent again', async (t) => {
  const { store, add, fileOf } = open(t);
  const names = await Promise.all(['one', 'two', 'three'].map((text) => add(text)));
  const [one, two, three] = names as [Buffer, Buffer, Buffer];
  truncateSync(fileOf(one), 0);
  writeFileSync(fileOf(two), zstdCompressSync('poison'));
  const list = Buffer.concat([three]);
  await store.add('ada', nameOfPiece(list), zstdCompressSync(list), GB);
  assert.deepEqual(await store.lackingLists('ada', [nameOfPiece(list), three]), [false, true]);
  assert.equal(await store.read('ada', one), undefined);
  assert.equal(await store.read('ada', two), undefined);
  await add('one');
  assert.equal((await store.read('ada', one))?.bytes.toString(), 'one');
  rmSync(fileOf(three));
  assert.deepEqual(await store.lackingLists('ada', [nameOfPiece(list)]), [true], 'a piece of the list is gone');
});

test('an account cannot fill the disk: the pieces that were not used for longest make room, those in use never', async (t) => {
  const { store, add, fileOf, files } = open(t);
  const text = (index: number): string => `${index} `.repeat(50) + String(index * 7_919);
  const most = 10 * BLOCK_BYTES;
  const names: Buffer[] = [];
  for (let index = 10; index < 19; index += 1) names.push(await add(text(index), most));
  await assert.rejects(
    async () => {
      for (let index = 20; index < 30; index += 1) await add(text(index), most);
    },
    { code: 'limit', message: /Send the archive instead/ },
  );
  const before = files().length;
  for (const name of names) utimesSync(fileOf(name), 1_000, 1_000);
  await store.lacking('ada', [names[0] ?? Buffer.alloc(32)]);
  await add(text(40), most);
  assert.ok(files().length < before);
  assert.deepEqual(await store.lacking('ada', names.slice(0, 1)), [false], 'it was just asked about');
  await add(text(40), most, 'bob');
});

test('lists that name too many pieces are refused before the disk is searched for all of them', async (t) => {
  const { store } = open(t);
  const names = Buffer.concat(Array.from({ length: 8_192 }, () => Buffer.alloc(NAME_BYTES)));
  const lists: Buffer[] = [];
  for (let index = 0; index < 130; index += 1) {
    names.writeUInt32LE(index, 0);
    lists.push(nameOfPiece(names));
    await store.add('ada', nameOfPiece(names), zstdCompressSync(names), GB);
  }
  assert.deepEqual(await store.lackingLists('ada', lists.slice(0, 1)), [true]);
  const same = Array.from({ length: 200 }, () => lists[0] ?? names);
  assert.deepEqual(new Set(await store.lackingLists('ada', same)), new Set([true]));
  await assert.rejects(store.lackingLists('ada', lists), { code: 'limit', message: /more than 1,048,576 pieces/ });
});

test('the sweep deletes what was not used for two weeks, and what a killed service was writing', async (t) => {
  const { store, add, fileOf, files } = open(t);
  const [old, recent] = await Promise.all([add('old'), add('recent')]);
  const unfinished = join(dirname(fileOf(old)), 'x.tmp');
  writeFileSync(unfinished, 'half');
  const ago = (days: number): number => (Date.now() - days * DAY_MS) / 1_000;
  utimesSync(fileOf(old), ago(15), ago(15));
  utimesSync(fileOf(recent), ago(13), ago(13));
  utimesSync(unfinished, ago(2), ago(2));
  await store.sweep(Date.now());
  assert.equal(files().length, 1);
  assert.deepEqual(await store.lacking('ada', [old, recent]), [true, false]);
});
