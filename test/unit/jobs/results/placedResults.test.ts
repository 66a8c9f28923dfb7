import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PlacedResults } from '../../../../src/jobs/results/placedResults.ts';
import { nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { encodeHeader, paddingOf } from '../../../../src/workspace/archive/tarFormat.ts';
import { markOf } from '../../../../src/workspace/files/localFile.ts';
import { cannotListOpenFiles, openFilesIn } from '../../openFiles.ts';
import { makeRecord, tempHome } from '../fixtures.ts';
import { recordsOf } from '../contents/resultPieces.ts';

const CONTENTS = { 'a.txt': 'first', 'empty.txt': '', 'b.bin': 'x'.repeat(512), 'c.txt': 'third '.repeat(500) };
const PIECE_BYTES = 700;

/** Results in a folder as a download leaves them, and the pieces of their tar stream. */
async function start(t: TestContext) {
  const [home, folder] = [tempHome(t), tempHome(t)];
  const parts: Buffer[] = [];
  const files = Object.entries(CONTENTS).map(([path, text]) => {
    writeFileSync(join(folder, path), text);
    const file = { path, size: text.length, mode: 0o644 };
    parts.push(encodeHeader(file), Buffer.from(text), Buffer.alloc(paddingOf(text.length)));
    return { ...file, at: join(folder, path) };
  });
  const tar = Buffer.concat([...parts, Buffer.alloc(1_024)]);
  const pieces = Array.from({ length: Math.ceil(tar.length / PIECE_BYTES) }, (_, index) =>
    tar.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  );
  const record = makeRecord({ folder, account: 'ada' });
  const placed = new PlacedResults(home);
  const archive = { records: recordsOf(pieces), files };
  await placed.write(record, archive);
  const all = pieces.map((piece) => nameOfPiece(piece).toString('hex'));
  const read = async (names = all, of = record): Promise<readonly string[]> => {
    const found = await Array.fromAsync(placed.read(of, new Set(names)));
    if (!cannotListOpenFiles) assert.deepEqual(openFilesIn(folder), []);
    // As the one who takes them checks.
    return found.filter(({ name, bytes }) => nameOfPiece(bytes).equals(name)).map(({ name }) => name.toString('hex'));
  };
  const [note = ''] = readdirSync(join(home, 'placed')).map((name) => join(home, 'placed', name));
  return { home, folder, record, placed, archive, all, read, note };
}

test('the pieces of the last results are put together from the files that they were written to', async (t) => {
  const { all, read } = await start(t);
  assert.ok(all.length > 8);
  assert.deepEqual(await read(), all);
  const some = [all[1] ?? '', all[6] ?? ''];
  assert.deepEqual(await read(some), some);
  assert.deepEqual(await read(['00'.repeat(32)]), []);
});

test('a piece inside of a file says where it is, and with which mark', async (t) => {
  const { folder, placed, record, all } = await start(t);
  const path = join(folder, 'c.txt');
  const mark = markOf(statSync(path, { bigint: true }));
  const found = await Array.fromAsync(placed.read(record, new Set(all)));
  const inside = found.flatMap(({ bytes, from }) => (from === undefined ? [] : { bytes, from }));
  assert.equal(inside.length, 3);
  for (const { bytes, from } of inside) {
    assert.deepEqual([from.path, from.mark], [path, mark]);
    assert.ok(
      readFileSync(path)
        .subarray(from.position, from.position + bytes.length)
        .equals(bytes),
    );
  }
});

test('of files that were changed, cut or removed, the other pieces are still there', async (t) => {
  const { folder, all, read } = await start(t);
  // a.txt is in the first piece, b.bin in the third and fourth.
  writeFileSync(join(folder, 'a.txt'), 'other');
  assert.deepEqual(await read(), all.slice(1));
  const without = (...gone: readonly number[]) => all.filter((_, index) => !gone.includes(index));
  truncateSync(join(folder, 'b.bin'), 100);
  assert.deepEqual(await read(), without(0, 3));
  rmSync(join(folder, 'b.bin'));
  assert.deepEqual(await read(), without(0, 2, 3));
  mkdirSync(join(folder, 'b.bin'));
  assert.deepEqual(await read(), without(0, 2, 3));
});

test('only what the same account got from the same service for the same folder counts', async (t) => {
  const { record, read, all } = await start(t);
  for (const change of [{ host: 'https://gpu.example.org' }, { account: 'eve' }, { folder: '/elsewhere' }]) {
    assert.deepEqual(await read(all, { ...record, ...change }), []);
  }
  assert.deepEqual(await read(all, { ...record, id: 'another' }), all);
});

test('a note that is damaged counts as none, and only the user may read it', async (t) => {
  const { home, note, read, all, archive } = await start(t);
  if (process.platform !== 'win32') {
    assert.equal(statSync(note).mode & 0o777, 0o600);
    assert.equal(statSync(join(home, 'placed')).mode & 0o777, 0o700);
  }
  const text = readFileSync(note, 'utf8');
  const good = JSON.parse(text) as Record<string, unknown>;
  const cut = archive.records.subarray(1).toString('base64');
  for (const bad of [
    '',
    '{}',
    'null',
    JSON.stringify({ ...good, format: 2 }),
    JSON.stringify({ ...good, records: '?' }),
    JSON.stringify({ ...good, records: cut }),
    JSON.stringify({ ...good, files: [['a', -1, 0, 'a']] }),
  ]) {
    writeFileSync(note, bad);
    assert.deepEqual(await read(), [], bad.slice(0, 60));
  }
  // Pieces that reach beyond the files.
  writeFileSync(note, JSON.stringify({ ...good, files: [] }));
  assert.deepEqual(await read(), []);
  writeFileSync(note, text);
  assert.deepEqual(await read(), all);
  rmSync(note);
  assert.deepEqual(await read(), []);
  mkdirSync(note);
  await assert.rejects(read(), { code: 'EISDIR' });
});

test('folders without results for 90 days are forgotten', async (t) => {
  const { home, placed, archive, note, read, all, record } = await start(t);
  const write = (folder: string) => placed.write(makeRecord({ folder, account: 'ada' }), archive);
  await write('/recent');
  const recent = readdirSync(join(home, 'placed')).find((name) => !note.endsWith(name)) ?? '';
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 24 * 3600_000);
  utimesSync(join(home, 'placed', recent), daysAgo(89), daysAgo(89));
  utimesSync(note, daysAgo(91), daysAgo(91));
  await write('/new');
  const left = readdirSync(join(home, 'placed'));
  assert.deepEqual([left.length, left.includes(recent)], [2, true]);
  assert.deepEqual(await read(all, record), []);
});
