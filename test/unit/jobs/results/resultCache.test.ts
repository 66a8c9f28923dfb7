import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type CacheLimits, ResultCache } from '../../../../src/jobs/results/resultCache.ts';
import type { BrowsedFile } from '../../../../src/jobs/results/resultIndex.ts';
import { smallDisk } from '../../../smallDisk.ts';
import { writeTree } from '../../workspace/temporaryFolder.ts';
import { tempHome } from '../fixtures.ts';

const LONG_AGO = new Date(0);

function archiveOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = tempHome(t);
  writeTree(folder, files);
  const archive = join(tempHome(t), 'archive.tar.gz');
  execFileSync('tar', ['czf', archive, '-C', folder, ...Object.keys(files)]);
  return archive;
}

async function start(t: TestContext, files: Readonly<Record<string, string>>, limits?: CacheLimits) {
  const home = tempHome(t);
  const cache = new ResultCache(home, limits);
  const id = randomUUID();
  await cache.add(id, archiveOf(t, files));
  const folder = join(home, 'results-cache', id);
  const find = async (path: string): Promise<BrowsedFile> => (await cache.open(id))?.find(path) ?? assert.fail(path);
  return { home, cache, id, folder, find };
}

async function textOf(parts: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(parts)).toString();
}

test('a file is read whole, in part or from its start, and only the user may read what is stored', async (t) => {
  const long = 'abc'.repeat(100_000);
  const { cache, id, folder, find } = await start(t, { 'a.txt': 'first', 'b.txt': long, 'empty.txt': '' });
  for (const [path, text] of [
    ['a.txt', 'first'],
    ['b.txt', long],
    ['empty.txt', ''],
  ] as const) {
    const file = await find(path);
    assert.equal(await textOf(cache.read(id, file)), text);
    assert.equal((await cache.readAll(id, path, text.length)).toString(), text);
    assert.equal((await cache.readStart(id, file, 4)).toString(), text.slice(0, 4));
  }
  await assert.rejects(cache.readAll(id, 'a.txt', 4), {
    code: 'limit',
    message: 'a.txt has 5 B. Download it to open it.',
  });
  if (process.platform === 'win32') return;
  for (const [path, mode] of [
    [folder, 0o700],
    [join(folder, 'contents'), 0o600],
    [join(folder, 'index.json'), 0o600],
  ] as const) {
    assert.equal(statSync(path).mode & 0o777, mode, path);
  }
});

test('contents that were removed or cut since are missing, however they are read', async (t) => {
  const { cache, id, folder, find } = await start(t, { 'a.txt': 'first', 'c.txt': 'second', 'empty.txt': '' });
  const [first, last, empty] = [await find('a.txt'), await find('c.txt'), await find('empty.txt')];
  const removed = (name: string) => ({
    code: 'missing',
    message: `${name} is no longer stored on this machine. Browse the results of the job again.`,
  });
  await assert.rejects(cache.readAll(id, 'none', 9), removed('none'));
  truncateSync(join(folder, 'contents'), 9);
  assert.equal(await textOf(cache.read(id, first)), 'first');
  await assert.rejects(textOf(cache.read(id, last)), removed('c.txt'));
  await assert.rejects(cache.readAll(id, 'c.txt', 9), removed('c.txt'));
  rmSync(join(folder, 'contents'));
  await assert.rejects(textOf(cache.read(id, first)), removed('a.txt'));
  await assert.rejects(cache.readAll(id, 'a.txt', 9), removed('a.txt'));
  assert.equal(await textOf(cache.read(id, empty)), '');
  mkdirSync(join(folder, 'contents'));
  await assert.rejects(textOf(cache.read(id, first)), { code: 'EISDIR' });
  await assert.rejects(textOf(cache.read(id, first, AbortSignal.abort(new Error('enough')))), /^Error: enough$/);
  await assert.rejects(cache.readAll(id, 'c.txt', 9), { code: 'EISDIR' });
  assert.equal(await new ResultCache(tempHome(t)).open(id), undefined);
});

test('files beyond the limit of a job are listed, and not stored', async (t) => {
  const { home, id, cache, find } = await start(t, { 'a.txt': '12345', 'b.txt': '6' }, { totalBytes: 9, jobBytes: 5 });
  assert.equal(await textOf(cache.read(id, await find('a.txt'))), '12345');
  const refused = {
    code: 'limit',
    message: "b.txt cannot be shown: at most 5 B of a job's results are stored for browsing. Download it to open it.",
  };
  for (const each of [cache, new ResultCache(home, { totalBytes: 9, jobBytes: 5 })]) {
    const file = (await each.open(id))?.find('b.txt') ?? assert.fail();
    assert.deepEqual([file.offset, file.size], [null, 1]);
    await assert.rejects(textOf(each.read(id, file)), refused);
    await assert.rejects(each.readAll(id, 'b.txt', 9), refused);
  }
});

test('above the limit of all jobs, the results that were browsed longest ago go first', async (t) => {
  const { home, cache, id, folder } = await start(t, { a: '123' }, { totalBytes: 6, jobBytes: 9 });
  const kept = [id];
  for (let count = 0; count < 2; count += 1) {
    utimesSync(folder, LONG_AGO, LONG_AGO);
    // Browsing it counts, in another process too.
    if (count === 1) await new ResultCache(home).open(id);
    const next = randomUUID();
    await cache.add(next, archiveOf(t, { a: '123' }));
    if (count === 1) kept.pop();
    kept.push(next);
    assert.deepEqual(readdirSync(join(home, 'results-cache')).sort(), kept.toSorted());
  }
});

test('what a process left half done goes after a day, and what one is doing stays', async (t) => {
  const { home, cache, id } = await start(t, { a: '123' }, { totalBytes: 3, jobBytes: 9 });
  const [old, running] = ['old.part', 'running.part'].map((name) => join(home, 'results-cache', name));
  for (const path of [old, running]) {
    mkdirSync(path ?? '');
    writeFileSync(join(path ?? '', 'contents'), 'x'.repeat(100));
  }
  utimesSync(old ?? '', LONG_AGO, LONG_AGO);
  await cache.add(id, archiveOf(t, { a: '123' })); // as another window does at the same time
  assert.deepEqual(readdirSync(join(home, 'results-cache')).sort(), [id, 'running.part'].toSorted());
  assert.ok(existsSync(join(home, 'results-cache', id, 'index.json')));
});

test('an archive that is damaged, cancelled or does not fit on the disk leaves nothing', async (t) => {
  const home = tempHome(t);
  const cache = new ResultCache(home);
  const id = randomUUID();
  const archive = archiveOf(t, { a: 'x'.repeat(1_000) });
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(cache.add(id, archive, { signal }), /^Error: enough$/);
  truncateSync(archive, 50);
  await assert.rejects(cache.add(id, archive), { code: 'corrupt' });
  await assert.rejects(cache.add('../x', archive), { code: 'missing', message: 'This job is not in the list.' });
  assert.deepEqual(readdirSync(join(home, 'results-cache')), []);
  assert.equal(await cache.open(id), undefined);
  const small = smallDisk(t);
  if (small === undefined) return;
  mkdirSync(join(small.home, 'results-cache'), { recursive: true });
  const large = archiveOf(t, { a: 'x'.repeat(1_000_000) });
  small.fill();
  await assert.rejects(new ResultCache(small.home).add(id, large), { code: 'no-space' });
  assert.deepEqual(readdirSync(join(small.home, 'results-cache')), []);
});
