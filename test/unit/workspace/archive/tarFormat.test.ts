import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeHeader } from '../../../../src/workspace/archive/tarFormat.ts';
import { type TarEntry, TarReader } from '../../../../src/workspace/archive/tarReader.ts';

const GIB = 2 ** 30;

/** What a reader finds in a header. */
function readBack(header: Buffer): TarEntry | undefined {
  let found: TarEntry | undefined;
  new TarReader({ begin: (entry) => (found = entry), data: () => {}, end: () => {} }).write(header);
  return found;
}

test('a header has one block, unless the name or the size needs a pax header, and is read back as it was', () => {
  const deep = `${'folder/'.repeat(20)}file.txt`;
  for (const { path = 'file.txt', size = 5, blocks } of [
    { blocks: 1 },
    { path: 'n'.repeat(100), blocks: 1 },
    { path: deep, blocks: 1 },
    { path: `${'p'.repeat(155)}/${'n'.repeat(100)}`, blocks: 1 },
    { path: 'n'.repeat(101), blocks: 3 },
    { path: `${'p'.repeat(156)}/${'n'.repeat(100)}`, blocks: 3 },
    { path: 'ü.txt', blocks: 3 },
    { size: 0, blocks: 1 },
    { size: 8 * GIB - 1, blocks: 1 },
    { size: 8 * GIB, blocks: 3 },
    { path: 'ü.txt', size: 9_000 * GIB, blocks: 3 },
  ]) {
    const header = encodeHeader({ path, size, mode: 0o755 });
    assert.equal(header.length, blocks * 512, `${path}, ${size} bytes`);
    assert.deepEqual(readBack(header), { name: path, type: 'file', size, mode: 0o755 });
  }
});

test('a name of any length is read back, also where the length of its record gets a digit more', () => {
  for (let length = 60; length < 1_100; length += 1) {
    const path = `ü${'n'.repeat(length)}`;
    assert.equal(readBack(encodeHeader({ path, size: 0, mode: 0o644 }))?.name, path, String(length));
  }
});

test('a reader that knows no pax headers gets names that say so', () => {
  const header = encodeHeader({ path: 'ü.txt', size: 0, mode: 0o644 });
  const nameAt = (block: number): string => header.toString('latin1', block * 512, header.indexOf(0, block * 512));
  assert.deepEqual([nameAt(0), nameAt(2)], ['pax-header', 'pax-named-file']);
});
