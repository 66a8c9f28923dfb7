import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { packSelection } from '../../../../src/workspace/pack/pack.ts';
import { selectFiles, type Selection } from '../../../../src/workspace/select/selection.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

const skip = process.platform === 'win32' ? 'Windows has no such files' : false;
const pathsOf = ({ files }: Selection): string[] => files.map(({ path }) => path);
const MANY = 6_000;

for (const isTrusted of [true, false]) {
  const how = isTrusted ? 'with git' : 'without git';

  test(`sockets, pipes, devices, links into /proc and loops of links are named and never opened, ${how}`, {
    skip,
  }, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, { fine: '' });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const server = createServer().listen(join(root, 'socket'));
    await once(server, 'listening');
    t.after(() => server.close());
    for (const [name, target] of [
      ['environment', '/proc/self/environ'],
      ['process', '/proc/self'],
      ['endless', '/dev/zero'],
      ['loop', 'loop'],
      ['up', '..'],
      ['gone', '/nowhere'],
    ] as const) {
      symlinkSync(target, join(root, name));
    }
    const selection = await selectFiles(root, { isTrusted });
    assert.deepEqual(pathsOf(selection), ['fine']);
    assert.deepEqual(
      selection.excluded.map(({ path, reason }) => [path, reason]),
      [
        ['.git', 'git'],
        ['endless', 'link'],
        ['environment', 'link'],
        ['gone', 'link'],
        ['loop', 'link'],
        ['pipe', 'special'],
        ['process', 'link'],
        ['socket', 'special'],
        ['up', 'link'],
      ],
    );
  });

  test(`folders nested deeper than any path may be long end the walk and are named, ${how}`, { skip }, async (t) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'farwharf-deep-')));
    t.after(() => execFileSync('rm', ['-rf', root])); // Node.js 22 cannot remove what is nested so deep
    git(root, 'init');
    writeTree(root, { fine: '' });
    const [chain, next] = [join(root, 'chain'), join(root, 'next')];
    writeTree(root, { 'chain/x': '' });
    for (let depth = 0; depth < 100; depth += 1) {
      writeTree(root, { 'next/x': '' });
      renameSync(chain, join(next, 'd'.repeat(100)));
      renameSync(next, chain);
    }
    const selection = await selectFiles(root, { isTrusted });
    assert.ok(pathsOf(selection).includes('fine'));
    assert.ok(selection.files.length > 10);
    for (const { path } of selection.files) assert.ok(path.length < 4_096);
  });
}

test('listing 6,000 files yields to the event loop and stops on abort', async (t) => {
  const root = temporaryFolder(t);
  git(root, 'init');
  for (let index = 0; index < MANY; index += 1) {
    if (index % 600 === 0) mkdirSync(join(root, `part${index / 600}`));
    writeFileSync(join(root, `part${Math.floor(index / 600)}`, `${index}`), '');
  }
  for (const isTrusted of [true, false]) {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    count();
    const selection = await selectFiles(root, { isTrusted }).finally(() => (isDone = true));
    assert.equal(selection.files.length, MANY);
    assert.ok(turns > 20, `${turns} turns of others`);
    const controller = new AbortController();
    const options = { isTrusted, signal: controller.signal, onProgress: () => controller.abort() };
    await assert.rejects(selectFiles(root, options), { name: 'AbortError' });
  }
});

test('a folder replaced by a link during packing does not lead outside', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'in');
  const large = 'inside '.repeat(1_400_000);
  // Both are larger than what is read ahead, so that the second is opened when the first has been packed.
  writeTree(root, { 'data/1.csv': large, 'data/2.csv': large });
  writeTree(folder, { 'outside/2.csv': 'private '.repeat(1_225_000) });
  const selection = await selectFiles(root, { isTrusted: false });
  let isSwapped = false;
  const onProgress = (): void => {
    if (isSwapped) return;
    isSwapped = true;
    renameSync(join(root, 'data'), join(root, 'moved'));
    symlinkSync(join(folder, 'outside'), join(root, 'data'));
  };
  const archive = join(folder, 'w.tar.gz');
  await assert.rejects(packSelection(selection, archive, { onProgress }), {
    code: 'conflict',
    message: /^data\/2\.csv /,
  });
  assert.throws(() => readFileSync(archive));
});

test('unreadable folders and files are reported, and all others are listed', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'in');
  writeTree(root, { 'closed/x': '', 'half/x': '', secretive: '', open: '' });
  git(root, 'init');
  for (const [path, mode] of [
    ['secretive', 0],
    ['closed', 0],
    ['half', 0o600],
  ] as const)
    chmodSync(join(root, path), mode);
  const program = `import { selectFiles } from ${JSON.stringify(join(import.meta.dirname, '../../../../src/workspace/select/selection.ts'))};
    const { files, excluded } = await selectFiles(${JSON.stringify(root)}, { isTrusted: true });
    console.log(JSON.stringify([files.map(({ path }) => path), excluded.map(({ path, reason, rule }) => [path, reason, rule])]));`;
  // Root can read everything, so that root gives the folder to another user and looks at it as that one.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-R', '65534:65534', folder]);
  const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  if (spawnSync(process.execPath, ['--version'], user).status !== 0) {
    return t.skip(`NOT TESTED: another user cannot run ${process.execPath}`);
  }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    ...user,
  });
  for (const path of ['closed', 'half']) chmodSync(join(root, path), 0o700);
  assert.equal(stderr, '');
  const [files, excluded] = JSON.parse(stdout) as [string[], [string, string, string][]];
  assert.deepEqual(files, ['open']);
  assert.equal(excluded.find(([path]) => path === 'secretive')?.[2], 'no permission to read it');
  assert.deepEqual(
    excluded.filter(([, reason]) => reason === 'unreadable').map(([path]) => path),
    ['closed', 'half/x', 'secretive'],
  );
});
