import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FolderStatus } from '../../src/retrieval/server/folderIndex.ts';
import { IndexServer } from '../../src/retrieval/server/indexServer.ts';
import { inspectSearchable, selectSearchable } from '../../src/workspace/select/searchableFiles.ts';
import { until } from './commandLine.ts';

const ROOT = join(import.meta.dirname, '../..');
const WORKER = join(ROOT, 'src/retrieval/index/indexWorker.ts');
const BUSY_WRITER = join(ROOT, 'test/kills/indexProcess.ts');
const NOBODY = 65_534;
const ANIMALS = ['okapi', 'tapir', 'lemur'];

class Place {
  readonly base: string;
  readonly folder: string;
  home: string;
  /** What must be undone before the place can be removed. */
  readonly undo: (() => void)[] = [];

  constructor(t: TestContext) {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), 'farwharf-bad-')));
    t.after(() => {
      for (const undo of this.undo.reverse()) undo();
      rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
    });
    this.folder = join(this.base, 'folder');
    this.home = join(this.base, 'home');
    mkdirSync(this.folder);
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  write(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  async open(home = this.home): Promise<IndexServer> {
    const selector = { select: selectSearchable, inspect: inspectSearchable };
    const index = new IndexServer({ home, workerProgram: WORKER, selector });
    this.undo.push(() => index.dispose());
    await index.open([{ path: this.folder, isTrusted: false }]);
    await index.settle();
    return index;
  }

  /** That an index finds what one finds that was built from the folder as it is. */
  async assertRight(index: IndexServer, queries: readonly string[]): Promise<void> {
    const fresh = await this.open(join(this.base, `fresh-${Math.random()}`));
    for (const query of queries) {
      assert.deepEqual(
        await index.searchFolders(query, { limit: 50 }),
        await fresh.searchFolders(query, { limit: 50 }),
        query,
      );
    }
    fresh.dispose();
  }
}

const pathsOf = async (index: IndexServer, query: string, limit = 50): Promise<string[]> =>
  (await index.searchFolders(query, { limit })).map(({ path }) => path).sort();

async function statusOf(index: IndexServer): Promise<FolderStatus> {
  const [status] = await index.status();
  assert.ok(status);
  return status;
}

test('one line of 200 MB is passed over without being read, and one of a megabyte is found', async (t) => {
  const place = new Place(t);
  const block = Buffer.from('word '.repeat(200_000));
  const file = openSync(place.at('line.txt'), 'w');
  for (let count = 0; count < 200; count += 1) writeSync(file, block);
  closeSync(file);
  place.write('long.txt', `zebra ${'y'.repeat(999_000)}`);
  const index = await place.open();
  assert.deepEqual(await pathsOf(index, 'zebra'), ['long.txt']);
  const { items } = await index.skipped(place.folder, { limit: 9 });
  assert.deepEqual(items, [{ path: 'line.txt', type: 'file', reason: 'too-large' }]);
});

test('50,000 files in one folder are indexed, and one change among them is found', async (t) => {
  const place = new Place(t);
  writeFileSync(place.at('f0.txt'), 'one of many\n');
  for (let at = 1; at < 50_000; at += 1) linkSync(place.at('f0.txt'), place.at(`f${at}.txt`)); // faster than writing each
  const index = await place.open();
  assert.equal((await statusOf(index)).files, 50_000);
  assert.deepEqual(await pathsOf(index, 'f4711', 1), ['f4711.txt']);
  rmSync(place.at('f77.txt'));
  place.write('f77.txt', 'zebra');
  place.write('new.txt', 'zebra');
  await index.notify([
    { type: 'changed', path: place.at('f77.txt') },
    { type: 'created', path: place.at('new.txt') },
  ]);
  await index.settle();
  assert.deepEqual(await pathsOf(index, 'zebra'), ['f77.txt', 'new.txt']);
});

test('links in circles and links out of the folder are not followed', async (t) => {
  const place = new Place(t);
  place.write('sub/a.md', 'zebra');
  writeFileSync(join(place.base, 'outside.md'), 'zebra');
  symlinkSync(place.folder, place.at('sub/up'));
  symlinkSync(place.at('one'), place.at('two'));
  symlinkSync(place.at('two'), place.at('one'));
  symlinkSync(join(place.base, 'outside.md'), place.at('outside.md'));
  const index = await place.open();
  assert.deepEqual(await pathsOf(index, 'zebra'), ['sub/a.md']);
  await index.notify(
    ['sub/up/sub/a.md', 'sub/up/sub/up/sub/a.md', 'sub/up', 'one', 'two', 'outside.md'].map((path) => ({
      type: 'changed',
      path: place.at(path),
    })),
  );
  await index.settle();
  assert.deepEqual([await pathsOf(index, 'zebra'), (await statusOf(index)).state], [['sub/a.md'], 'ready']);
  const { items } = await index.skipped(place.folder, { limit: 9 });
  assert.deepEqual(
    items.map(({ path, reason }) => `${path} ${reason}`),
    ['one link', 'outside.md link', 'sub/up link', 'two link'],
  );
  rmSync(place.at('sub/a.md'));
  symlinkSync(join(place.base, 'outside.md'), place.at('sub/a.md'));
  await index.notify([{ type: 'changed', path: place.at('sub/a.md') }]);
  await index.settle();
  assert.deepEqual(await pathsOf(index, 'zebra'), [], 'a file that became a link');
});

test('files that come and go while they are read do no harm', async (t) => {
  const place = new Place(t);
  for (let at = 0; at < 400; at += 1) place.write(`d${at % 3}/f${at}.txt`, `lion ${at}`);
  const churn = spawn(process.execPath, [
    '-e',
    `const fs = require('node:fs');
     for (let at = 0; ; at = (at + 7) % 400) {
       const path = process.argv[1] + '/d' + (at % 3) + '/f' + at + '.txt';
       fs.rmSync(path, { force: true });
       fs.writeFileSync(path, 'tiger ' + at + ' ' + 'x '.repeat(at));
       if (at % 50 === 0) { fs.renameSync(process.argv[1] + '/d1', process.argv[1] + '/e1'); fs.renameSync(process.argv[1] + '/e1', process.argv[1] + '/d1'); }
     }`,
    place.folder,
  ]);
  place.undo.push(() => churn.kill('SIGKILL'));
  const closed = once(churn, 'close');
  const index = await place.open();
  for (let round = 0; round < 15; round += 1) {
    await index.notify([{ type: 'changed', path: round % 3 === 0 ? place.folder : place.at(`d${round % 3}`) }]);
    for (const hit of await index.searchFolders('tiger lion 7', { limit: 20 })) assert.match(hit.text, /tiger|lion/);
    await index.settle();
  }
  churn.kill('SIGKILL');
  await closed;
  await index.notify([{ type: 'changed', path: place.folder }]);
  await index.settle();
  assert.equal((await statusOf(index)).state, 'ready');
  await place.assertRight(index, ['tiger lion', 'tiger 7', 'x tiger 399']);
});

test('files and folders that may not be read are passed over with that reason', (t) => {
  const place = new Place(t);
  place.write('open/a.md', 'zebra');
  place.write('closed.md', 'zebra');
  place.write('shut/b.md', 'zebra');
  chmodSync(place.at('closed.md'), 0o000);
  chmodSync(place.at('shut'), 0o000);
  place.undo.push(() => chmodSync(place.at('shut'), 0o700));
  chmodSync(place.base, 0o777);
  const program = join(place.base, 'look.ts');
  writeFileSync(
    program,
    `import { IndexServer } from ${JSON.stringify(join(ROOT, 'src/retrieval/server/indexServer.ts'))};
     import * as selector from ${JSON.stringify(join(ROOT, 'src/workspace/select/searchableFiles.ts'))};
     const index = new IndexServer({ home: process.argv[3], workerProgram: '', selector: { select: selector.selectSearchable, inspect: selector.inspectSearchable } });
     await index.open([{ path: process.argv[2], isTrusted: false }]);
     await index.settle();
     await index.notify(['closed.md', 'shut/b.md', 'shut'].map((path) => ({ type: 'changed', path: process.argv[2] + '/' + path })));
     await index.settle();
     const [status] = await index.status();
     const { items } = await index.skipped(process.argv[2], { limit: 9 });
     const hits = await index.searchFolders('zebra', { limit: 9 });
     console.log(JSON.stringify({ state: status.state, found: hits.map(({ path }) => path), items: items.map(({ path, reason }) => path + ' ' + reason) }));
     index.dispose();`,
  );
  const isRoot = process.getuid?.() === 0;
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [program, place.folder, join(place.base, 'their-home')],
    {
      encoding: 'utf8',
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    },
  );
  if (isRoot && (error !== undefined || /EACCES|permission denied/i.test(stderr))) {
    t.skip(`NOT TESTED: user ${NOBODY} cannot run node here: ${error?.message ?? stderr}`);
    return;
  }
  assert.deepEqual(JSON.parse(stdout || stderr), {
    state: 'ready',
    found: ['open/a.md'],
    items: ['closed.md unreadable', 'shut unreadable'],
  });
});

/** A disk of its own, as small as `options` say; undefined where none can be mounted, which the test then says. */
function mountDisk(t: TestContext, place: Place, options: string): string | undefined {
  const disk = join(place.base, 'disk');
  mkdirSync(disk);
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk], { encoding: 'utf8' });
  if (mount.status !== 0) {
    t.skip(`NOT TESTED: no small disk can be mounted here: ${mount.stderr || String(mount.error)}`);
    return undefined;
  }
  place.undo.push(() => spawnSync('umount', ['-l', disk]));
  return disk;
}

test('on a full disk the search is right, the status says so, and what is missing is kept once there is room', async (t) => {
  const place = new Place(t);
  const disk = mountDisk(t, place, 'size=200k');
  if (disk === undefined) return;
  place.home = join(disk, 'home');
  place.write('a.md', 'zebra');
  const index = await place.open();
  assert.equal((await statusOf(index)).problem, undefined);
  writeFileSync(join(disk, 'filler'), 'x');
  assert.throws(() => {
    for (;;) appendFileSync(join(disk, 'filler'), Buffer.alloc(4096));
  }, /ENOSPC/);
  for (let at = 0; at < 60; at += 1) {
    place.write(`f${at}.md`, `zebra ${Array.from({ length: 200 }, (_, word) => `w${at}x${word}`).join(' ')}`);
    await index.notify([{ type: 'created', path: place.at(`f${at}.md`) }]);
    if (at % 10 === 0) await index.settle();
  }
  await index.settle();
  const full = await statusOf(index);
  assert.deepEqual([full.state, full.problem?.code, full.files], ['error', 'no-space', 61]);
  assert.match(full.problem?.message ?? '', /the disk of .* is full/);
  assert.equal((await index.searchFolders('zebra', { limit: 99 })).length, 61);
  rmSync(join(disk, 'filler'));
  assert.equal(spawnSync('mount', ['-o', 'remount,size=20m', disk]).status, 0);
  place.write('b.md', 'zebra');
  await index.notify([{ type: 'created', path: place.at('b.md') }]);
  await index.settle();
  const good = await statusOf(index);
  assert.deepEqual([good.state, good.problem, good.files], ['ready', undefined, 62]);
  index.dispose();
  const again = await place.open();
  assert.equal((await statusOf(again)).files, 62);
  await place.assertRight(again, ['zebra', 'w7x9 w8x1']);
});

test('a disk that is full from the start leaves a search that works', async (t) => {
  const place = new Place(t);
  const disk = mountDisk(t, place, 'size=16k,nr_inodes=2');
  if (disk === undefined) return;
  place.home = join(disk, 'home');
  place.write('a.md', 'zebra');
  const index = await place.open();
  const status = await statusOf(index);
  assert.deepEqual([status.state, status.problem?.code, status.isWriter], ['error', 'no-space', false]);
  assert.deepEqual(await pathsOf(index, 'zebra'), ['a.md']);
});

test('while another process writes, both find what changes; when it is killed, this one continues', async (t) => {
  const place = new Place(t);
  place.write('a.md', 'zebra');
  for (let round = 0; round < ANIMALS.length; round += 1) {
    const writer = spawn(process.execPath, [BUSY_WRITER, place.folder, place.home, String(round)]);
    place.undo.push(() => writer.kill('SIGKILL'));
    const closed = once(writer, 'close');
    await Promise.race([once(writer.stdout, 'data'), closed]);
    const index = await place.open();
    assert.equal((await statusOf(index)).isWriter, false);
    place.write('mine.md', `quagga ${ANIMALS[round]}`);
    await index.notify([{ type: 'changed', path: place.at('mine.md') }]);
    await index.settle();
    assert.deepEqual(await pathsOf(index, ANIMALS[round] ?? ''), ['mine.md']);
    for (let look = 0; look < 10; look += 1) {
      for (const hit of await index.searchFolders('word1x word2x', { limit: 20 })) assert.match(hit.text, /x/);
      await sleep(50);
    }
    writer.kill('SIGKILL');
    await closed;
    await until(async () => (await statusOf(index)).isWriter);
    await index.settle();
    await place.assertRight(index, ['word1x word2x', 'quagga zebra', 'word9x']);
    index.dispose();
  }
});

test('a folder that is replaced while it is open is followed', async (t) => {
  const place = new Place(t);
  place.write('a.md', 'zebra');
  const index = await place.open();
  renameSync(place.folder, `${place.folder}-away`);
  await index.notify([{ type: 'deleted', path: place.folder }]);
  await index.settle();
  const gone = await statusOf(index);
  assert.deepEqual([gone.state, gone.problem?.code, await pathsOf(index, 'zebra')], ['error', 'missing', []]);
});
