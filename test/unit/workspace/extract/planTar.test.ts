import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planTar, type TarPart } from '../../../../src/workspace/extract/planTar.ts';
import { paxHeader, tarEnd, tarEntry } from '../archive/tarBuilder.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

const LONG = `${'folder/'.repeat(150)}long.txt`;
const TAR = Buffer.concat([
  tarEntry({ name: 'large.bin', body: Buffer.alloc(20_000, 'a') }),
  paxHeader({ path: LONG }),
  tarEntry({ name: 'x', body: 'long' }),
  tarEntry({ name: 'link', type: '2', link: 'x' }),
  tarEnd,
]);

function inParts(bytes: number): { parts: TarPart[]; read: Set<number> } {
  const read = new Set<number>();
  const parts = Array.from({ length: Math.ceil(TAR.length / bytes) }, (_, index): TarPart => {
    const part = TAR.subarray(index * bytes, (index + 1) * bytes);
    return {
      size: part.length,
      read: async () => {
        read.add(index);
        return part;
      },
    };
  });
  return { parts, read };
}

test('a tar stream is planned the same however it is cut, and parts inside of a file are not read', async (t) => {
  const folder = temporaryFolder(t);
  for (const bytes of [100, 512, 700, 4_096, TAR.length]) {
    const { parts, read } = inParts(bytes);
    const { files, skipped } = await planTar(parts, folder, t.signal);
    assert.deepEqual(
      files.map(({ path, size }) => [path, size]),
      [
        ['large.bin', 20_000],
        [LONG, 4],
      ],
      `parts of ${bytes} bytes`,
    );
    assert.deepEqual(
      skipped.map(({ path }) => path),
      ['link'],
    );
    // The body of the large file begins after one block.
    const inside = parts.keys().filter((index) => index * bytes >= 512 && (index + 1) * bytes <= 512 + 20_000);
    assert.deepEqual(
      [...inside].filter((index) => read.has(index)),
      [],
    );
  }
});

test('a tar stream without its end is refused', async (t) => {
  const { parts } = inParts(512);
  await assert.rejects(planTar(parts.slice(0, 20), temporaryFolder(t), t.signal), { code: 'corrupt' });
});
