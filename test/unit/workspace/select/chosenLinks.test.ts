import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packSelection } from '../../../../src/workspace/pack/pack.ts';
import { selectFiles, type Selection, type SelectOptions } from '../../../../src/workspace/select/selection.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

const paths = ({ files }: Selection): string[] => files.map(({ path }) => path);
const leftOut = ({ excluded }: Selection): string[] => excluded.map(({ path, reason }) => `${path} ${reason}`);

/** A folder with links, and one beside it with what they lead to. */
function linkedFolder(t: TestContext): { readonly root: string; readonly outside: string } {
  const top = temporaryFolder(t);
  const [root, outside] = [join(top, 'project'), join(top, 'scratch')];
  writeTree(root, { 'train.py': 'x', 'inside/a.txt': 'a' });
  writeTree(outside, {
    'data/1.csv': 'one',
    'data/deep/2.csv': 'two',
    'data/.env': 'TOKEN=1',
    'data/.ssh/config': 'Host x',
    'utils.py': 'def f(): pass',
  });
  symlinkSync('../utils.py', join(outside, 'data/elsewhere.py'));
  symlinkSync('../scratch/data', join(root, 'data'));
  symlinkSync(join(outside, 'utils.py'), join(root, 'utils.py'));
  symlinkSync('inside', join(root, 'alias'));
  return { root, outside };
}

/** The message with which a choice is refused. */
async function refusal(root: string, options: Partial<SelectOptions>, code = 'refused'): Promise<string> {
  try {
    await selectFiles(root, { isTrusted: true, ...options });
  } catch (error) {
    assert.equal((error as { code?: string }).code, code, (error as Error).message);
    return (error as Error).message;
  }
  return 'sent';
}

for (const isTrusted of [true, false]) {
  const how = isTrusted ? 'with git' : 'without git';

  test(`a chosen link sends what it leads to, and names it, ${how}`, async (t) => {
    const { root, outside } = linkedFolder(t);
    git(root, 'init');
    const before = await selectFiles(root, { isTrusted });
    assert.deepEqual(paths(before), ['inside/a.txt', 'train.py']);
    assert.deepEqual(leftOut(before), ['.git git', 'alias link', 'data link', 'utils.py link']);
    assert.equal(before.excluded.find(({ path }) => path === 'data')?.rule, 'leads to ../scratch/data');

    const selection = await selectFiles(root, { isTrusted, include: ['data', 'utils.py', 'alias/'] });
    assert.deepEqual(paths(selection), [
      'alias/a.txt',
      'data/1.csv',
      'data/deep/2.csv',
      'inside/a.txt',
      'train.py',
      'utils.py',
    ]);
    assert.deepEqual(leftOut(selection), [
      '.git git',
      'data/.env secret',
      'data/.ssh secret',
      'data/elsewhere.py link',
    ]);
    const links = selection.findings.map(({ type, path, target }) => [type, path, target]);
    assert.deepEqual(links, [
      ['link', 'data', join(outside, 'data')],
      ['link', 'utils.py', join(outside, 'utils.py')],
      ['link', 'alias', join(root, 'inside')],
    ]);
    assert.equal(
      selection.findings[0]?.message,
      `data is a link out of the folder. What it leads to is sent: 2 files, from ${outside}/data.`,
    );
    assert.equal(
      selection.findings[2]?.message,
      `alias is a link to ${root}/inside. What it leads to is sent: 1 file.`,
    );
  });
}

test('the archive has the contents behind a link, as ordinary files', async (t) => {
  const { root, outside } = linkedFolder(t);
  const archive = join(outside, 'out.tar.gz');
  const selection = await selectFiles(root, { isTrusted: false, include: ['data', 'utils.py'] });
  const { manifest } = await packSelection(selection, archive);
  assert.deepEqual(
    manifest.flatMap(({ path, isLinked }) => (isLinked ? path : [])),
    ['data/1.csv', 'data/deep/2.csv', 'utils.py'],
  );
  const unpacked = temporaryFolder(t);
  execFileSync('tar', ['-xzf', archive, '-C', unpacked]);
  assert.equal(readFileSync(join(unpacked, 'data/deep/2.csv'), 'utf8'), 'two');
  assert.equal(readFileSync(join(unpacked, 'utils.py'), 'utf8'), 'def f(): pass');
});

test('a path, a secret and a link behind a chosen link can be chosen themselves, and patterns look behind it', async (t) => {
  const { root } = linkedFolder(t);
  const include = ['data/deep', 'data/*.csv', 'data/elsewhere.py'];
  const selection = await selectFiles(root, { isTrusted: true, include });
  assert.deepEqual(paths(selection), [
    'data/1.csv',
    'data/deep/2.csv',
    'data/elsewhere.py',
    'inside/a.txt',
    'train.py',
  ]);
  const excluding = await selectFiles(root, { isTrusted: true, include: ['data'], exclude: ['data/deep', '*.csv'] });
  assert.deepEqual(paths(excluding), ['inside/a.txt', 'train.py']);
});

test('a link that leads in a circle, nowhere or to no file is refused with its name', async (t) => {
  const { root, outside } = linkedFolder(t);
  symlinkSync('self', join(root, 'self'));
  symlinkSync('.', join(root, 'here'));
  symlinkSync('../..', join(root, 'inside/up'));
  symlinkSync('/', join(root, 'everything'));
  symlinkSync('gone', join(root, 'dangling'));
  symlinkSync('train.py/x', join(root, 'through'));
  symlinkSync('/dev/zero', join(root, 'device'));
  execFileSync('mkfifo', [join(outside, 'pipe')]);
  symlinkSync(join(outside, 'pipe'), join(root, 'piped'));
  for (const path of ['self', 'here', 'inside/up', 'everything', 'here/here/inside/up']) {
    assert.match(await refusal(root, { include: [path] }), new RegExp(`^${path} is a link that leads back to itself`));
  }
  for (const path of ['dangling', 'through']) {
    assert.match(
      await refusal(root, { include: [path] }, 'missing'),
      new RegExp(`^${path} is a link to something that`),
    );
  }
  for (const path of ['device', 'piped']) {
    assert.match(await refusal(root, { include: [path] }), /neither a file nor a folder, so nothing was sent/);
  }
  // A pattern that matches such a link is refused too, unless it is left out.
  assert.match(await refusal(root, { include: ['d*'] }, 'missing'), /^dangling is a link/);
  const chosen = await selectFiles(root, { isTrusted: true, include: ['d*'], exclude: ['dangling', 'device'] });
  assert.ok(paths(chosen).includes('data/1.csv'));
  // Everything is left out that nobody chose, and nothing waits for the pipe.
  assert.deepEqual(paths(await selectFiles(root, { isTrusted: true })), ['inside/a.txt', 'train.py']);
});

test('a link to a secret, a folder of secrets or the data of git is refused, however it is chosen', async (t) => {
  const { root, outside } = linkedFolder(t);
  git(root, 'init');
  writeTree(outside, { id_ed25519: 'k', 'notes.md': `key: ${['AKIA', 'IOSFODNN7QZLKWTR'].join('')}\n` });
  symlinkSync(join(outside, 'data/.ssh'), join(root, 'keys'));
  symlinkSync(join(outside, 'data/.ssh/config'), join(root, 'config'));
  symlinkSync(join(outside, 'id_ed25519'), join(root, 'harmless.txt'));
  symlinkSync('.git', join(root, 'history'));
  symlinkSync('.git/config', join(root, 'settings'));
  for (const path of ['keys', 'keys/config', 'config', 'harmless.txt', 'history', 'settings']) {
    assert.match(
      await refusal(root, { include: [path] }),
      /looks like a secret or private data \(.+\), so nothing was/,
      path,
    );
    if (path === 'keys/config') continue; // a pattern does not look behind the links that it matches
    assert.match(
      await refusal(root, { include: [`[${path[0]}]${path.slice(1)}`] }),
      /private data|pattern does not/,
      path,
    );
  }
  symlinkSync(join(outside, 'notes.md'), join(root, 'notes.md'));
  assert.match(
    await refusal(root, { include: ['notes.md'] }),
    /^notes\.md was included but cannot be sent \(reason: AWS/,
  );
});

test('a link that leads elsewhere by the time it is packed sends nothing', async (t) => {
  const { root, outside } = linkedFolder(t);
  const archive = join(outside, 'out.tar.gz');
  writeTree(outside, { 'other/1.csv': 'stolen', 'other/deep/2.csv': 'stolen', 'other.py': 'stolen' });
  for (const [include, swap] of [
    ['data', () => rmSync(join(root, 'data')) ?? symlinkSync(join(outside, 'other'), join(root, 'data'))],
    [
      'utils.py',
      () => rmSync(join(root, 'utils.py')) ?? symlinkSync(join(outside, 'other.py'), join(root, 'utils.py')),
    ],
    [
      'data/deep',
      () => {
        renameSync(join(outside, 'other/deep'), join(outside, 'other/was'));
        symlinkSync(join(outside, 'other/was'), join(outside, 'other/deep'));
      },
    ],
  ] as const) {
    const selection = await selectFiles(root, { isTrusted: false, include: [include] });
    swap();
    await assert.rejects(packSelection(selection, archive), { code: 'conflict' }, include);
  }
});

test('a chosen link to a repository sends what its own rules send', async (t) => {
  const { root, outside } = linkedFolder(t);
  const library = join(outside, 'library');
  mkdirSync(library);
  git(library, 'init');
  writeTree(library, { '.gitignore': '*.bin\n', 'a.py': '', 'b.bin': '' });
  symlinkSync(library, join(root, 'library'));
  const selection = await selectFiles(root, { isTrusted: true, include: ['library'] });
  assert.deepEqual(paths(selection).slice(1, 3), ['library/.gitignore', 'library/a.py']);
  assert.deepEqual(
    selection.excluded.filter(({ path }) => path.startsWith('library')).map(({ path, at }) => [path, at]),
    [
      ['library/.git', undefined],
      ['library/b.bin', 'library/.gitignore:1'],
    ],
  );
});

test('a remembered choice that cannot be honoured any more is named, and the rest is sent', async (t) => {
  const { root, outside } = linkedFolder(t);
  rmSync(join(outside, 'utils.py'));
  const include = ['utils.py', 'gone.bin', 'data'];
  const choice = { include, exclude: ['gone/x'], remembered: [...include, 'gone/x'] };
  const selection = await selectFiles(root, { isTrusted: true, ...choice });
  assert.deepEqual(paths(selection), ['data/1.csv', 'data/deep/2.csv', 'inside/a.txt', 'train.py']);
  assert.deepEqual(
    selection.findings.map(({ type, path }) => `${type} ${path}`),
    ['choice utils.py', 'choice gone.bin', 'link data'],
  );
});
