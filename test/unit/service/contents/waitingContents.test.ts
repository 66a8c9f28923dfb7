import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { ContentStore } from '../../../../src/service/contents/contentStore.ts';
import { findContents, LackingContents } from '../../../../src/service/contents/submittedContents.ts';
import { WaitingContents } from '../../../../src/service/contents/waitingContents.ts';

const JOB = { id: 'job1', account: 'ada' };
const PIECES = Array.from({ length: 30 }, (_, index) => randomBytes(20_000 + index * 5_000));

async function setUp(t: TestContext) {
  const data = mkdtempSync(join(tmpdir(), 'farwharf-waiting-'));
  t.after(() => rmSync(data, { recursive: true }));
  const store = new ContentStore(data);
  const waiting = new WaitingContents(data, store);
  const piece = (bytes: Buffer) => ({ name: nameOfPiece(bytes), frame: zstdCompressSync(bytes) });
  const list = Buffer.concat(PIECES.map((bytes) => nameOfPiece(bytes)));
  const add = async (): Promise<void> => {
    await store.add('ada', PIECES.slice(0, 20).map(piece), 1e9);
    await store.add('ada', [...PIECES.slice(20), list].map(piece), 1e9);
  };
  await add();
  const submission = join(data, 'names');
  writeFileSync(submission, nameOfPiece(list));
  const signal = AbortSignal.any([]);
  const find = () => findContents(store, { account: 'ada', submission, maxBytes: 1e9, signal });
  const packs = (folder: string): string[] =>
    globSync(`${folder}/*/*.pack`, { cwd: data }).map((path) => join(data, path));
  return { data, store, waiting, add, find, packs };
}

async function read(waiting: WaitingContents): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(waiting.read(JOB), (chunk) => Buffer.from(chunk)));
}

test('the contents of a job stay until it starts, whatever the content store deletes, and take no space beside it', async (t) => {
  const { data, waiting, find, packs } = await setUp(t);
  await waiting.keep(JOB.id, await find());
  const inodes = (folder: string) =>
    packs(folder)
      .map((path) => String(statSync(path).ino))
      .toSorted();
  assert.deepEqual(inodes('waiting'), inodes('contents'));
  rmSync(join(data, 'contents'), { recursive: true });
  assert.equal(await waiting.has(JOB.id), true);
  assert.ok((await read(waiting)).equals(Buffer.concat(PIECES)));
  await waiting.remove(JOB.id);
  assert.equal(await waiting.has(JOB.id), false);
  assert.deepEqual(readdirSync(join(data, 'waiting')), []);
});

test('contents that are deleted while a job is accepted are lacking, and nothing is kept', async (t) => {
  const { data, waiting, find, packs } = await setUp(t);
  const found = await find();
  rmSync(packs('contents')[0] ?? '');
  await assert.rejects(waiting.keep(JOB.id, found), LackingContents);
  assert.deepEqual(readdirSync(join(data, 'waiting')), []);
  await assert.rejects(find(), LackingContents);
});

test('contents that are damaged before a job starts are reported, and can be sent again', async (t) => {
  const { store, waiting, add, find, packs } = await setUp(t);
  await waiting.keep(JOB.id, await find());
  for (const path of packs('contents')) {
    const bytes = readFileSync(path);
    bytes[bytes.length >> 2] = (bytes[bytes.length >> 2] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  }
  await assert.rejects(read(waiting), { code: 'corrupt', message: /damaged on the disk .* Submit again\.$/ });
  await assert.rejects(find(), LackingContents);
  await waiting.remove(JOB.id);
  for (const path of packs('contents')) await store.removePack('ada', path);
  await add();
  await waiting.keep(JOB.id, await find());
  assert.ok((await read(waiting)).equals(Buffer.concat(PIECES)));
});

test('the sweep removes contents of jobs that do not wait, except those that were just kept', async (t) => {
  const { data, waiting, find } = await setUp(t);
  const found = await find();
  for (const job of ['waits', 'ended', 'new']) await waiting.keep(job, found);
  for (const job of ['waits', 'ended']) utimesSync(join(data, 'waiting', job), 1_000, 1_000);
  await waiting.sweep(Date.now(), (job) => job === 'waits');
  assert.deepEqual(readdirSync(join(data, 'waiting')).toSorted(), ['new', 'waits']);
});
