import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { link, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import type { JobFile } from '../../../../../src/remote/tunnel/fileChannels.ts';
import { stageTar } from '../../../../../src/workspace/extract/extract.ts';
import { openTunnel } from './tunnelPair.ts';

/** A job's folder beside a secret file, and a client of a tunnel into it. */
async function jobFolder(t: TestContext) {
  const base = await mkdtemp(join(tmpdir(), 'farwharf-files-'));
  t.after(() => rm(base, { recursive: true, force: true }));
  const folder = join(base, 'job');
  mkdirSync(folder);
  writeFileSync(join(base, 'secret'), 'the secret');
  return { base, folder, tunnel: openTunnel(t, { folder }) };
}

/** A file of zeros that takes no time to write. */
function writeSparse(path: string, size: number): void {
  writeFileSync(path, '');
  truncateSync(path, size);
}

const summary = (files: readonly JobFile[]) =>
  Object.fromEntries(files.map(({ path, type, size, isLink }) => [path, [type, size, ...(isLink ? ['link'] : [])]]));

test('a folder is listed with sizes, times and links, and read from any byte', async (t) => {
  const { folder, tunnel } = await jobFolder(t);
  mkdirSync(join(folder, 'out/deep'), { recursive: true });
  const contents = randomBytes(1_500_000);
  writeFileSync(join(folder, 'out/model.pt'), contents);
  await utimes(join(folder, 'out/model.pt'), 1_700_000_000, 1_700_000_000.5);
  symlinkSync('out/model.pt', join(folder, 'latest'));
  symlinkSync('nowhere', join(folder, 'broken'));
  const { entries, isComplete } = await tunnel.list('');
  assert.deepEqual(
    [summary(entries), isComplete],
    [{ out: ['folder', 0], latest: ['file', 1_500_000, 'link'], broken: ['link', 0, 'link'] }, true],
  );
  const { modified, ...file } = await tunnel.stat('out/model.pt');
  assert.deepEqual(file, { path: 'out/model.pt', type: 'file', size: 1_500_000, isLink: false });
  assert.equal(modified, 1_700_000_000_500);
  using read = await tunnel.read('latest');
  assert.equal(read.length, 1_500_000);
  assert.ok((await buffer(read.bytes)).equals(contents));
  assert.deepEqual(await read.ended, { isChanged: false });
  using part = await tunnel.read('out/model.pt', { offset: 1_000_001, length: 7 });
  assert.deepEqual(await buffer(part.bytes), contents.subarray(1_000_001, 1_000_008));
  using after = await tunnel.read('out/model.pt', { offset: 2_000_000 });
  assert.deepEqual([(await buffer(after.bytes)).length, after.length], [0, 0]);
  await assert.rejects(tunnel.read('out'), { code: 'bad-input', message: /out is a folder/ });
  await assert.rejects(tunnel.read('absent'), { code: 'missing', message: /absent does not exist in the job/ });
  await assert.rejects(tunnel.list('latest'), { code: 'bad-input', message: /not a folder/ });
});

test('nothing outside the job’s folder is seen, and nothing but regular files is opened', async (t) => {
  const { base, folder, tunnel } = await jobFolder(t);
  symlinkSync('../secret', join(folder, 'up'));
  symlinkSync(base, join(folder, 'absolute'));
  symlinkSync('/proc/self/environ', join(folder, 'environ'));
  symlinkSync('/dev/zero', join(folder, 'zero'));
  symlinkSync('loop', join(folder, 'loop'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const server = createServer().listen(join(folder, 'socket'));
  t.after(() => server.close());
  for (const path of ['up', 'absolute', 'absolute/secret', 'environ', 'zero']) {
    await assert.rejects(tunnel.read(path), { code: 'refused', message: /leads out of the job’s folder/ }, path);
    await assert.rejects(tunnel.stat(path), { code: 'refused' }, path);
    await assert.rejects(tunnel.list(path), { code: 'refused' }, path);
  }
  for (const path of ['..', '../secret', 'a/../../secret', '/etc/passwd', './x', 'a//b', 'a\0b'])
    await assert.rejects(tunnel.read(path), { message: /does not understand/ }, path);
  for (const path of ['pipe', 'socket']) await assert.rejects(tunnel.read(path), { code: 'bad-input' }, path);
  await assert.rejects(tunnel.read('loop'), { code: 'missing', message: /link that leads nowhere/ });
  const { entries } = await tunnel.list('');
  assert.ok(entries.every(({ type, size }) => (type === 'link' || type === 'other') && size === 0));
  const deep: string[] = [];
  for await (const some of tunnel.walk('')) deep.push(...some.map(({ path }) => path));
  assert.equal(deep.length, 7);
});

test('a job that swaps a folder for a link shows nothing outside', async (t) => {
  const { base, folder, tunnel } = await jobFolder(t);
  const at = (name: string) => join(folder, name);
  mkdirSync(at('real'));
  writeFileSync(at('real/secret'), 'harmless');
  mkdirSync(at('a'));
  writeFileSync(at('a/secret'), 'harmless');
  symlinkSync(base, at('link'));
  let swaps = 0;
  const stop = new AbortController();
  const swapping = (async () => {
    for (; !stop.signal.aborted; swaps += 1) {
      renameSync(at('a'), at('aside'));
      renameSync(at('link'), at('a'));
      await new Promise(setImmediate);
      renameSync(at('a'), at('link'));
      renameSync(at('aside'), at('a'));
      await new Promise(setImmediate);
    }
  })();
  const seen = new Set<string>();
  for (let count = 0; count < 50 || seen.size < 2; count += 1) {
    const text = await tunnel.read('a/secret').then(
      async (read) => String(await buffer(read.bytes)),
      (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'failed'),
    );
    seen.add(text);
  }
  stop.abort();
  await swapping;
  assert.ok(swaps > 0);
  assert.ok(!seen.has('the secret') && seen.has('harmless') && seen.has('refused'), [...seen].join());
});

test('a file that grows, shrinks or is replaced while it is read is reported as changed', async (t) => {
  const { folder, tunnel } = await jobFolder(t);
  const path = join(folder, 'log');
  const size = 8_000_000; // more than is on the way at once
  const readWhile = async (change: () => void) => {
    writeSparse(path, size);
    using read = await tunnel.read('log');
    change();
    const bytes = await buffer(read.bytes);
    return [bytes.length, (await read.ended).isChanged];
  };
  assert.deepEqual(await readWhile(() => {}), [size, false]);
  assert.deepEqual(await readWhile(() => appendFileSync(path, 'more')), [size, true]);
  const replace = () => {
    rmSync(path);
    writeSparse(path, size);
  };
  assert.deepEqual(await readWhile(replace), [size, true]);
  assert.deepEqual(await readWhile(() => rmSync(path)), [size, true]);
  const shrunk = readWhile(() => truncateSync(path, 100));
  await assert.rejects(shrunk, { code: 'conflict', message: /log became shorter in the job/ });
});

test('an archive of a folder has its regular files, and names what it leaves out', async (t) => {
  const { base, folder, tunnel } = await jobFolder(t);
  mkdirSync(join(folder, 'out/a'), { recursive: true });
  const contents = randomBytes(700_001);
  writeFileSync(join(folder, 'out/a/model.pt'), contents);
  writeFileSync(join(folder, 'out/run.sh'), 'echo', { mode: 0o755 });
  writeFileSync(Buffer.concat([Buffer.from(join(folder, 'out/')), Buffer.from([0xff, 0x41])]), 'x');
  symlinkSync('../../secret', join(folder, 'out/up'));
  await link(join(folder, 'out/run.sh'), join(folder, 'out/second'));
  using archive = tunnel.archive('out');
  const target = join(base, 'target');
  const tar = await buffer(archive.bytes);
  const staged = await stageTar([tar], target);
  assert.deepEqual(staged.entries.map(({ path, mode }) => `${path} ${mode.toString(8)}`).toSorted(), [
    'a/model.pt 644',
    'run.sh 755',
    'second 755',
  ]);
  assert.ok((await readFile(join(staged.staging, 'a/model.pt'))).equals(contents));
  const { skipped, changed } = await archive.ended;
  assert.deepEqual(
    [skipped.paths.toSorted(), skipped.count, changed],
    [['out/up', 'out/\udcffA'], 2, { paths: [], count: 0 }],
  );
  using other = tunnel.archive('absent');
  await assert.rejects(buffer(other.bytes), { code: 'missing' });
  await assert.rejects(other.ended, { code: 'missing' });
});

test('an archive of files that shrink is whole, and names them', async (t) => {
  const { base, folder, tunnel } = await jobFolder(t);
  writeSparse(join(folder, 'log'), 8_000_000);
  using archive = tunnel.archive('');
  const chunks: Buffer[] = [];
  for await (const chunk of archive.bytes) {
    if (chunks.length === 0) truncateSync(join(folder, 'log'), 10);
    chunks.push(chunk);
  }
  const staged = await stageTar(chunks, join(base, 'target'));
  assert.deepEqual(
    staged.entries.map(({ path, size }) => [path, size]),
    [['log', 8_000_000]],
  );
  assert.deepEqual((await archive.ended).changed, { paths: ['log'], count: 1 });
});

test('a folder of many files is listed to the end, or as far as the client wants', async (t) => {
  const { folder, tunnel } = await jobFolder(t);
  execFileSync('sh', ['-c', 'seq -f "file-%07.0f" 3000 | xargs touch'], { cwd: folder });
  const some = await tunnel.list('', { limit: 500 });
  assert.deepEqual([some.entries.length, some.isComplete], [500, false]);
  const all = await tunnel.list('', { limit: 200_000 });
  assert.deepEqual([new Set(all.entries.map(({ path }) => path)).size, all.isComplete], [3_000, true]);
});

test('names with control characters and bytes that are no UTF-8 are listed and can be read', async (t) => {
  const { folder, tunnel } = await jobFolder(t);
  const names = [Buffer.from('a\nb\u001b[2J'), Buffer.from([0x6d, 0xe9, 0x2e, 0x74]), Buffer.from('…'.repeat(80))];
  for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), name);
  const { entries } = await tunnel.list('');
  assert.equal(entries.length, 3);
  const read = await Promise.all(entries.map(async ({ path }) => buffer((await tunnel.read(path)).bytes)));
  assert.deepEqual(read.map(String).toSorted(), names.map(String).toSorted());
});

test('a written file replaces the one of its path, also a link, and nothing outside', async (t) => {
  const { base, folder, tunnel } = await jobFolder(t);
  mkdirSync(join(folder, 'conf'));
  writeFileSync(join(folder, 'conf/a.json'), 'old', { mode: 0o750 });
  const contents = randomBytes(3_000_000);
  assert.equal((await tunnel.write('conf/a.json', contents)).size, contents.length);
  assert.ok((await readFile(join(folder, 'conf/a.json'))).equals(contents));
  assert.equal(statSync(join(folder, 'conf/a.json')).mode & 0o777, 0o750);
  assert.equal((await tunnel.write('new', Buffer.alloc(0))).size, 0);
  symlinkSync('../secret', join(folder, 'up'));
  await tunnel.write('up', Buffer.from('replaced'));
  symlinkSync('..', join(folder, 'out'));
  await assert.rejects(tunnel.write('out/secret', Buffer.from('x')), { code: 'refused' });
  await assert.rejects(tunnel.write('conf', Buffer.from('x')), { code: 'bad-input', message: /not a regular file/ });
  await assert.rejects(tunnel.write('absent/x', Buffer.from('x')), { code: 'missing' });
  const abort = new AbortController();
  const aborted = tunnel.write('new', Buffer.alloc(20_000_000), { signal: abort.signal });
  abort.abort(new Error('no longer wanted'));
  await assert.rejects(aborted, /no longer wanted/);
  const names = async () => [...(await readdir(folder)), ...(await readdir(join(folder, 'conf')))];
  while ((await names()).some((name) => name.endsWith('.part'))) await new Promise(setImmediate);
  assert.deepEqual((await names()).toSorted(), ['a.json', 'conf', 'new', 'out', 'up']);
  assert.equal(statSync(join(folder, 'new')).size, 0);
  assert.equal(String(await readFile(join(base, 'secret'))), 'the secret');
});

test('a client that stops reading, or is aborted, holds up nobody and leaves no open file', async (t) => {
  const { folder, tunnel } = await jobFolder(t);
  writeSparse(join(folder, 'large'), 10 * 2 ** 30);
  const stuck = await tunnel.read('large');
  const abort = new AbortController();
  const aborted = await tunnel.read('large', { signal: abort.signal });
  abort.abort(new Error('no longer wanted'));
  await assert.rejects(buffer(aborted.bytes), /no longer wanted/);
  for await (const chunk of stuck.bytes) {
    assert.ok(chunk.length > 0);
    break;
  }
  const isOpen = async () => (await readdir('/proc/self/fd')).length;
  writeFileSync(join(folder, 'small'), 'x');
  using small = await tunnel.read('small');
  assert.equal(String(await buffer(small.bytes)), 'x');
  const before = await isOpen();
  stuck[Symbol.dispose]();
  while ((await isOpen()) > before) await new Promise(setImmediate);
});
