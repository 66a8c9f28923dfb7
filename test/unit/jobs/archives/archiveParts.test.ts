import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
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
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { directArchiver } from '../../../../src/jobs/archives/archiver.ts';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { readArchivedFiles } from '../../../../src/jobs/archives/archivedFiles.ts';
import { readSegments } from '../../../../src/jobs/archives/archiveSegments.ts';
import { readTar, writeWhole } from '../../../../src/jobs/archives/archiveTar.ts';
import { contentsOf } from '../../../../src/jobs/contents/archiveContents.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { tempHome } from '../fixtures.ts';

/** A folder with two large files and some small ones, written a minute ago, and archives of it. */
async function setUp(t: TestContext) {
  const home = tempHome(t);
  const store = new ArchiveStore(home);
  await store.prepare();
  const root = join(home, 'project');
  mkdirSync(join(root, 'small'), { recursive: true });
  for (let index = 0; index < 30; index += 1) writeFileSync(join(root, 'small', `${index}.txt`), `text ${index}\n`);
  for (const name of ['one.bin', 'two.bin']) writeFileSync(join(root, name), randomBytes(1_500_000));
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
  const selections = new Selections();
  /** Packs the folder as a submit does. */
  const pack = async (id: string, earlier?: string) => {
    const selected = await selections.select(root, { isTrusted: false });
    const packed = await selections.pack(selected.id, store.partPath(id), {
      manifest: store.manifestPath(id),
      segments: store.segmentsPath(id),
      ...(earlier !== undefined && { earlier: await store.packedFiles(earlier), folder: store.folderPartPath(id) }),
    });
    await store.place(id);
    return { ...packed, ...(await store.packedFiles(id)) };
  };
  return { home, store, root, pack };
}

test('an archive of a folder with few changes refers to the files of earlier ones, and is what it would be without', async (t) => {
  const { home, store, root, pack } = await setUp(t);
  let last = 'job-0';
  assert.equal((await pack(last)).isFolder, false);
  for (let round = 1; round <= 40; round += 1) {
    writeFileSync(join(root, 'small', `${round % 30}.txt`), `changed ${round}\n`);
    if (round === 30) writeFileSync(join(root, 'one.bin'), randomBytes(1_500_000));
    const id = `job-${round}`;
    const packed = await pack(id, last);
    assert.equal(packed.isFolder, true);
    const parts = readdirSync(packed.archive);
    assert.ok(parts.length <= 16, `${parts.length} parts`);
    assert.ok(round === 30 || statSync(join(packed.archive, 'own')).size < 100_000);
    rmSync(store.archivePath(last), { force: true });
    rmSync(store.folderPath(last), { recursive: true, force: true });
    last = id;
    if (round % 10 !== 0) continue;
    const anew = await pack('anew');
    assert.equal(packed.bytes, anew.bytes);
    const whole = join(home, `${id}.tar.gz`);
    await writeWhole(packed, whole);
    assert.ok(readFileSync(whole).equals(readFileSync(anew.archive)));
    assert.ok((await buffer(readTar(packed))).equals(gunzipSync(readFileSync(whole))));
    const staged = await directArchiver.stagePacked(packed, join(home, `staged-${round}`), {});
    assert.equal(readFileSync(join(staged.staging, 'small', `${round % 30}.txt`), 'utf8'), `changed ${round}\n`);
    assert.deepEqual(
      await readArchivedFiles(packed, new Set(['small/29.txt'])),
      new Map([['small/29.txt', readFileSync(join(root, 'small/29.txt'))]]),
    );
    const copy = await store.copyPacked(packed, `copy-${round}`);
    await store.place(`copy-${round}`);
    assert.ok((await buffer(readTar({ ...packed, archive: copy }))).equals(gunzipSync(readFileSync(whole))));
  }
});

test('a part that is gone or cut off is packed again, and one that is damaged is found when it is read', async (t) => {
  const { store, pack } = await setUp(t);
  const first = await pack('job-0');
  const second = await pack('job-1', 'job-0');
  const part = join(second.archive, readdirSync(second.archive).find((name) => name !== 'own') ?? '');
  const bytes = readFileSync(part);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(part, bytes);
  const segments = (await readSegments(second.segments)) ?? [];
  const names = segments.flatMap(({ pieces }) => {
    return Array.from({ length: pieces.length / 36 }, (_, at) => pieces.toString('hex', 36 * at, 36 * at + 32));
  });
  const damaged = { name: 'DamagedArchive' };
  await assert.rejects(buffer(readTar(second)), damaged);
  await assert.rejects(writeWhole(second, `${second.archive}.whole`), damaged);
  await assert.rejects(Array.fromAsync(contentsOf(second.archive, segments).read(new Set(names))), damaged);
  truncateSync(part, 1_000);
  const third = await pack('job-2', 'job-1');
  const fourth = await pack('job-3');
  const whole = join(second.archive, 'whole');
  if (third.isFolder) await writeWhole(third, whole);
  assert.ok(readFileSync(third.isFolder ? whole : third.archive).equals(readFileSync(fourth.archive)));
  rmSync(part);
  assert.equal((await pack('job-4', 'job-1')).isFolder, false);
  assert.equal(existsSync(first.archive), true);
  assert.equal(await store.packedFiles('none').then(({ archive }) => existsSync(archive)), false);
});

test('archives that share parts use their space once, and the oldest are removed with their parts', async (t) => {
  const { home, store, root, pack } = await setUp(t);
  const names = (): string[] => readdirSync(join(home, 'archives')).filter((name) => /\.(parts|tar\.gz)$/.test(name));
  await pack('job-0');
  for (const round of [1, 2]) {
    writeFileSync(join(root, 'small', '1.txt'), `changed ${round}\n`);
    await pack(`job-${round}`, `job-${round - 1}`);
  }
  const old = new Date(1e12);
  utimesSync(store.archivePath('job-0'), old, old);
  await store.prune(new Set(), 4_000_000);
  assert.equal(names().length, 3);
  // Less than the two large files have, which the newest refers to.
  await store.prune(new Set(['job-2']), 2_000_000);
  assert.deepEqual(names(), ['job-2.parts']);
  assert.ok((await buffer(readTar(await store.packedFiles('job-2')))).length > 3_000_000);
  await store.prune(new Set(), 2_000_000);
  assert.deepEqual(names(), []);
});

test('what a killed process was packing is removed', async (t) => {
  const { home, store, pack } = await setUp(t);
  await pack('job-0');
  const abandoned = join(home, 'archives', 'job-9.00000000-1-00000000.folder.part');
  mkdirSync(abandoned);
  writeFileSync(join(abandoned, 'own'), 'x');
  const old = new Date(1e12);
  utimesSync(abandoned, old, old);
  await store.prepare();
  assert.equal(existsSync(abandoned), false);
});
