import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { TarAssembly } from '../../../../src/jobs/contents/tarAssembly.ts';
import { nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { tempHome } from '../fixtures.ts';
import { bitsIn, recordsOf } from './resultPieces.ts';

async function assemble(t: TestContext, records: Buffer, mostBytes = 1_000_000) {
  const path = join(tempHome(t), 'assembled.tar');
  const assembly = await TarAssembly.create(records, path, mostBytes);
  if (assembly !== undefined) t.after(() => assembly[Symbol.asyncDispose]());
  return { path, assembly };
}

test('pieces in any order make up the stream, each wherever it occurs', async (t) => {
  const different = Array.from({ length: 9 }, (_, index) => Buffer.from(`piece ${index} `.repeat(index + 1)));
  const pieces = [...different, ...different.slice(2, 4)];
  const { path, assembly } = await assemble(t, recordsOf(pieces));
  assert.ok(assembly);
  const whole = Buffer.concat(pieces);
  assert.deepEqual([assembly.totalBytes, assembly.doneBytes, assembly.isComplete], [whole.length, 0, false]);
  assert.equal(assembly.wanted().length, 2);
  assert.deepEqual(bitsIn(assembly.wanted(), 11), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const hex = (piece: Buffer): string => nameOfPiece(piece).toString('hex');
  assert.deepEqual([...assembly.lackingNames()], different.map(hex));
  let done = 0;
  for (const piece of different.toReversed()) {
    const name = nameOfPiece(piece);
    assert.equal(assembly.isLacking(name), true);
    assert.equal(await assembly.put(name, piece), true);
    assert.equal(assembly.isLacking(name), false);
    assert.equal(await assembly.put(name, piece), false, 'it is no longer lacking');
    done += piece.length * pieces.filter((each) => each === piece).length;
    assert.equal(assembly.doneBytes, done);
    if (piece === different[3]) assert.deepEqual(bitsIn(assembly.wanted(), 11), [0, 1, 2]);
  }
  assert.deepEqual([assembly.isComplete, assembly.lackingNames().size, assembly.doneBytes], [true, 0, whole.length]);
  assert.deepEqual(readFileSync(path), whole);
  if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a piece that is a part of a file is not copied, and parts that follow each other are one', async (t) => {
  const pieces = ['one', 'two', 'three', 'two'].map((text) => Buffer.from(text));
  const [one = Buffer.alloc(0), two = one, three = one] = pieces;
  const { path, assembly } = await assemble(t, recordsOf(pieces));
  assert.ok(assembly);
  const from = (position: number, mark = 'mark') => ({ path: '/data', position, mark });
  assert.equal(await assembly.put(nameOfPiece(two), two, from(103)), true);
  assert.equal(await assembly.put(nameOfPiece(one), two, from(100)), false, 'what it is was not checked');
  assert.equal(await assembly.put(nameOfPiece(one), one, from(100)), true);
  assert.equal(await assembly.put(nameOfPiece(three), three), true);
  assert.equal(assembly.isComplete, true);
  assert.deepEqual(assembly.sources(), [
    { start: 0, bytes: 6, ...from(100) },
    { start: 11, bytes: 3, ...from(103) },
  ]);
  assert.deepEqual(readFileSync(path), Buffer.from('\0\0\0\0\0\0three\0\0\0'));

  const other = (await assemble(t, recordsOf([one, two]))).assembly;
  await other?.put(nameOfPiece(one), one, from(0));
  await other?.put(nameOfPiece(two), two, from(3, 'another'));
  assert.equal(other?.sources().length, 2, 'of a file that changed in between');
});

test('a piece with another name or size, or that nobody asked for, is not written', async (t) => {
  const [piece, other] = [Buffer.from('right'), Buffer.from('wrong')];
  const { path, assembly } = await assemble(t, recordsOf([piece]));
  assert.ok(assembly);
  assert.equal(await assembly.put(nameOfPiece(piece), other), false);
  assert.equal(await assembly.put(nameOfPiece(other), other), false);
  const records = recordsOf([piece]);
  records.writeUInt32LE(4, 32);
  const lying = await assemble(t, records);
  assert.equal(await lying.assembly?.put(nameOfPiece(piece), piece), false);
  assert.deepEqual([assembly.doneBytes, readFileSync(path).length], [0, 0]);
  assert.equal(await assembly.put(nameOfPiece(piece), piece), true);
});

test('records that are not valid, or name more bytes than allowed, make no file', async (t) => {
  const pieces = [Buffer.from('one'), Buffer.from('two')];
  const sized = (...sizes: readonly number[]): Buffer => {
    const records = recordsOf(
      [pieces[0] ?? '', pieces[sizes.length > 2 ? 0 : 1] ?? ''].map((text) => Buffer.from(text)),
    );
    records.writeUInt32LE(sizes[0] ?? 0, 32);
    records.writeUInt32LE(sizes[1] ?? 0, 68);
    return records;
  };
  for (const [records, mostBytes] of [
    [recordsOf(pieces).subarray(1), 100],
    [recordsOf(pieces), 5],
    [sized(3, 0), 100],
    [sized(3, 256 * 1024 + 1), 1e6],
    [sized(3, 4, 0), 100],
  ] as const) {
    const { path, assembly } = await assemble(t, records, mostBytes);
    assert.equal(assembly, undefined);
    assert.equal(existsSync(path), false);
  }
  assert.equal((await assemble(t, recordsOf(pieces), 6)).assembly?.totalBytes, 6);
  assert.equal((await assemble(t, sized(3, 256 * 1024), 1e6)).assembly?.totalBytes, 256 * 1024 + 3);
  const empty = (await assemble(t, Buffer.alloc(0))).assembly;
  assert.deepEqual([empty?.isComplete, empty?.totalBytes, empty?.wanted().length], [true, 0, 0]);

  const taken = join(tempHome(t), 'taken');
  writeFileSync(taken, 'mine');
  await assert.rejects(TarAssembly.create(recordsOf(pieces), taken, 100), { code: 'EEXIST' });
  assert.equal(readFileSync(taken, 'utf8'), 'mine');
});
