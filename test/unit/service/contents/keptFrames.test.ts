import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { FrameWriter, readFrames } from '../../../../src/service/contents/keptFrames.ts';

const PIECES = [
  randomBytes(200_000),
  Buffer.alloc(262_144),
  Buffer.from('x'),
  ...Array.from({ length: 20 }, () => randomBytes(90_000)),
];

async function write(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-frames-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'kept');
  const written: Buffer[] = [];
  const writer = new FrameWriter(async (bytes) => void written.push(bytes));
  for (const piece of PIECES) await writer.write(zstdCompressSync(piece));
  await writer.end();
  writeFileSync(path, Buffer.concat(written));
  return path;
}

test('the pieces of a submission are read back from the file that keeps them', async (t) => {
  const path = await write(t);
  const read = await Array.fromAsync(readFrames(path));
  assert.equal(read.length, PIECES.length);
  assert.ok(Buffer.concat(read).equals(Buffer.concat(PIECES)));
});

test('a file of pieces that was damaged or cut off is refused', async (t) => {
  const path = await write(t);
  const bytes = readFileSync(path);
  for (const at of [5, 9, 20, 150_000, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(path, changed);
    await assert.rejects(Array.fromAsync(readFrames(path)), { code: 'corrupt' }, `byte ${at}`);
  }
  writeFileSync(path, bytes.subarray(0, bytes.length - 1));
  await assert.rejects(Array.fromAsync(readFrames(path)), { code: 'corrupt' });
});
