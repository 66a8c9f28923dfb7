import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { combineCrc } from '../../../../src/workspace/archive/gzipMember.ts';
import type { EarlierPacking } from '../../../../src/workspace/pack/earlierArchive.ts';
import { packSelection } from '../../../../src/workspace/pack/pack.ts';
import { groupFiles } from '../../../../src/workspace/pack/segments.ts';
import { selectFiles } from '../../../../src/workspace/select/selection.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

/** A folder with two large files and many small ones, which were written a minute ago. */
function makeFolder(t: TestContext) {
  const place = temporaryFolder(t);
  const root = join(place, 'root');
  mkdirSync(join(root, 'small'), { recursive: true });
  for (let index = 0; index < 300; index += 1) {
    writeFileSync(join(root, 'small', `${index}.txt`), `${index} `.repeat(100 + index));
  }
  for (const name of ['one.bin', 'two.bin']) writeFileSync(join(root, name), randomBytes(1_500_000));
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
  let count = 0;
  const pack = async (earlier?: EarlierPacking, folder = root) => {
    const archive = join(place, `${(count += 1)}.tar.gz`);
    const packed = await packSelection(await selectFiles(folder, { isTrusted: false }), archive, {
      isSegmented: true,
      earlier,
    });
    return { ...packed, archive, sha256: hash('sha256', readFileSync(archive)) };
  };
  return { place, root, pack };
}

test('an archive that is packed from an earlier one has the same bytes, manifest and pieces as one that is packed anew', async (t) => {
  const { root, pack } = makeFolder(t);
  let earlier = await pack();
  assert.ok(earlier.segments.length > 5);
  execFileSync('gzip', ['-t', earlier.path]);
  const { size } = statSync(join(root, 'one.bin'));
  const changes: (() => void)[] = [
    () => {},
    () => writeFileSync(join(root, 'small', '7.txt'), 'changed'),
    () => writeFileSync(join(root, 'one.bin'), randomBytes(size)),
    () => rmSync(join(root, 'small', '100.txt')),
    () => writeFileSync(join(root, 'small', '100 new.txt'), 'new'),
    () => rmSync(join(root, 'small'), { recursive: true }),
  ];
  for (const change of changes) {
    change();
    const again = await pack(earlier);
    const anew = await pack();
    assert.equal(again.sha256, anew.sha256);
    assert.deepEqual(again.manifest, anew.manifest);
    assert.deepEqual(again.segments, anew.segments);
    execFileSync('gzip', ['-t', again.path]);
    earlier = again;
  }
});

test('files whose size, times and place on the disk are known are not read again', async (t) => {
  const { place, root, pack } = makeFolder(t);
  const own = await pack();
  const twin = join(place, 'twin');
  cpSync(root, twin, { recursive: true });
  writeFileSync(join(twin, 'one.bin'), Buffer.alloc(1_500_000));
  const other = await pack(undefined, twin);
  // What was packed of the other folder, under the keys of this one.
  const segments = other.segments.map((segment, index) => ({ ...segment, key: own.segments[index]?.key ?? null }));
  assert.deepEqual((await pack({ ...other, segments })).manifest, other.manifest);
  assert.equal((await pack(other)).sha256, own.sha256);
});

test('a file that was changed just before it was read is read again, although a second change leaves no trace', async (t) => {
  const { root, pack } = makeFolder(t);
  const path = join(root, 'one.bin');
  // The first file that was written, so that none was written before the moment in which all are read.
  const { ctimeMs } = statSync(join(root, 'small', '0.txt'));
  t.mock.timers.setTime(Math.ceil(ctimeMs));
  const earlier = await pack();
  assert.deepEqual(
    earlier.segments.map(({ key }) => key),
    earlier.segments.map(() => null),
  );
  t.mock.timers.setTime(Math.ceil(ctimeMs) + 600_000);
  const old = new Date(1e12);
  utimesSync(path, old, old);
  const settled = await pack(earlier);
  writeFileSync(path, randomBytes(1_500_000));
  utimesSync(path, old, old);
  const changed = await pack(settled);
  assert.notEqual(changed.sha256, settled.sha256, 'the time of its last change of state is another');
});

test('an earlier archive that is damaged, cut off or gone is not used', async (t) => {
  const { pack } = makeFolder(t);
  const whole = await pack();
  const bytes = readFileSync(whole.archive);
  const middle = Math.floor(bytes.length / 2);
  const flipped = Buffer.from(bytes);
  flipped[middle] = (flipped[middle] ?? 0) ^ 1;
  writeFileSync(whole.archive, flipped);
  assert.equal((await pack(whole)).sha256, whole.sha256);
  truncateSync(whole.archive, middle);
  assert.equal((await pack(whole)).sha256, whole.sha256);
  rmSync(whole.archive);
  assert.equal((await pack(whole)).sha256, whole.sha256);
});

test('the checksum of two texts is computed from those of each', () => {
  for (const [first, second] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [5, 70_000],
    [100_000, 3],
    [65_536, 65_536],
  ] as const) {
    const [a, b] = [randomBytes(first), randomBytes(second)];
    assert.equal(combineCrc(crc32(a), crc32(b), b.length), crc32(Buffer.concat([a, b])), `${first} and ${second}`);
  }
});

test('files are grouped up to 512 files or 4 MB, and a file of 1 MB has a group of its own', () => {
  // Hashes of these names are no borders.
  const names: string[] = [];
  for (let index = 0; names.length < 1_200; index += 1) {
    if (((hash('sha256', `${index}`, 'buffer')[0] ?? 0) & 0x3f) !== 0) names.push(`${index}`);
  }
  const sizes = (all: readonly number[]): number[] =>
    groupFiles(all.map((size, index) => ({ path: names[index] ?? '', size, mode: 0o644, mtimeMs: 0 }))).map(
      (group) => group.length,
    );
  const files = (count: number, size: number): number[] => Array.from({ length: count }, () => size);
  assert.deepEqual(sizes([]), []);
  assert.deepEqual(sizes(files(1_200, 10)), [512, 512, 176]);
  assert.deepEqual(sizes(files(10, 2 ** 20 - 1)), [5, 5]);
  assert.deepEqual(sizes(files(16, 2 ** 19)), [8, 8]);
  assert.deepEqual(sizes([10, 10, 2 ** 20, 2 ** 20, 10, 2 ** 20 - 1, 10]), [2, 1, 1, 3]);

  const border = Array.from({ length: 10_000 }, (_, index) => `${index}`).find((name) => !names.includes(name));
  const paths = [names[0], border, names[1], names[2]].map((path = '') => ({ path, size: 1, mode: 0o644, mtimeMs: 0 }));
  assert.deepEqual(
    groupFiles(paths).map((group) => group.length),
    [2, 2],
  );
});
