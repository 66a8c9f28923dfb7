import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { discardStaged, stageArchive } from '../../../src/workspace/extract/extract.ts';
import { tarEntry, tarGz } from '../../unit/workspace/archive/tarBuilder.ts';
import { allowRefusal, type FuzzedReader, nothingToClose } from '../reader.ts';

// Small, so that an input that gets past the limits costs no disk.
const LIMITS = { totalBytes: 4e6, entries: 2_000, depth: 32 };
const BLOCK = 512;
const CHECKSUM_AT = 148;
const TYPES = ['0', '1', '2', '3', '5', '6', 'L', 'x', 'g'];

const samples = async (): Promise<readonly Buffer[]> => [
  tarGz(
    tarEntry({ name: 'results/', type: '5' }),
    tarEntry({ name: 'results/loss.csv', body: Buffer.from('epoch,loss\n1,0.5\n') }),
    tarEntry({ name: 'results/zwölf.txt', body: Buffer.from('x'.repeat(700)) }),
  ),
  tarGz(...TYPES.map((type) => tarEntry({ name: `entry-${type}`, type, link: '../outside' }))),
];
const words = [
  '../',
  '/',
  '\0',
  'ustar\u000000',
  'ustar  \0',
  '12 path=../x\n',
  '20 size=99999999999\n',
  '.git/config',
  '0000777',
];

/** Unpacks into a folder, and looks that nothing was written beside it and nothing is left in it. */
async function unpack(scratch: string, archive: Buffer): Promise<void> {
  const path = join(scratch, 'archive.tar.gz');
  await writeFile(path, archive);
  const target = join(scratch, 'target');
  await mkdir(target, { recursive: true });
  await allowRefusal(async () => {
    const staged = await stageArchive(path, target, { limits: LIMITS });
    await discardStaged(staged);
  });
  assert.deepEqual((await readdir(scratch)).toSorted(), ['archive.tar.gz', 'target']);
  assert.deepEqual(await readdir(target), []);
  await rm(path);
}

/** The archive with checksums that are right, so that what is wrong in a header is read and not only noticed. */
function withChecksums(archive: Buffer): Buffer {
  const mended = Buffer.from(archive);
  for (let at = 0; at + BLOCK <= mended.length; ) {
    const header = mended.subarray(at, at + BLOCK);
    header.fill(' ', CHECKSUM_AT, CHECKSUM_AT + 8);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0`, CHECKSUM_AT, 'latin1');
    const size = Number.parseInt(header.toString('latin1', 124, 135), 8);
    at += BLOCK + (size > 0 ? Math.ceil(size / BLOCK) * BLOCK : 0);
  }
  return mended;
}

/** Tar archives, packed after they were changed. */
export const archives: FuzzedReader = {
  name: 'tar',
  samples: async () => (await samples()).map((packed) => gunzipSync(packed)),
  words,
  open: (scratch) =>
    Promise.resolve({
      read: (input) => unpack(scratch, gzipSync(withChecksums(input), { level: 1 })),
      [Symbol.asyncDispose]: nothingToClose,
    }),
};

/** Archives that are changed after they were packed. */
export const packedArchives: FuzzedReader = {
  name: 'gzip',
  samples,
  words: ['\x1f\x8b\x08', '\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\x03', '\x00\x00\xff\xff', '\x03\x00'],
  open: (scratch) =>
    Promise.resolve({ read: (input) => unpack(scratch, input), [Symbol.asyncDispose]: nothingToClose }),
};
