import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { selectSearchable } from '../../../../src/workspace/select/searchableFiles.ts';
import { selectFiles, type Selection, type SelectOptions } from '../../../../src/workspace/select/selection.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

const paths = ({ files }: Selection): string[] => files.map(({ path }) => path);

/** What is sent with these choices, or the message of the refusal. */
async function outcome(root: string, options: Partial<SelectOptions>): Promise<string[] | string> {
  try {
    return paths(await selectFiles(root, { isTrusted: true, ...options }));
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
}

test('choices are paths, or patterns in the syntax of ignore files', async (t) => {
  const root = temporaryFolder(t);
  git(root, 'init');
  writeTree(root, {
    '.gitignore': 'out/\n*.bin\n',
    'out/1.csv': '',
    'out/deep/2.csv': '',
    'out/deep/3.txt': '',
    'a.bin': '',
    'src/b.bin': '',
    'src/x.py': '',
    'odd[1].bin': '',
    '#c.bin': '',
  });
  const base = ['.gitignore', 'src/x.py'];
  const sent = async (options: Partial<SelectOptions>): Promise<string[] | string> => {
    const found = await outcome(root, options);
    return typeof found === 'string' ? found : found.filter((path) => !base.includes(path));
  };
  assert.deepEqual(await sent({ include: ['*.csv'] }), ['out/1.csv', 'out/deep/2.csv']);
  assert.deepEqual(await sent({ include: ['out/*.csv'] }), ['out/1.csv']);
  assert.deepEqual(await sent({ include: ['./out/**/*.csv'] }), ['out/1.csv', 'out/deep/2.csv']);
  assert.deepEqual(await sent({ include: ['out/d*'] }), ['out/deep/2.csv', 'out/deep/3.txt']);
  assert.deepEqual(await sent({ include: [join(root, 'out/*.csv')] }), ['out/1.csv']);
  assert.deepEqual(await sent({ include: ['/*.bin'] }), ['#c.bin', 'a.bin', 'odd[1].bin']);
  assert.deepEqual(await sent({ include: ['#*'] }), ['#c.bin']);
  assert.deepEqual(await sent({ include: ['odd[1].bin'] }), ['odd[1].bin'], 'a path that exists is no pattern');
  assert.deepEqual(await sent({ include: ['*.bin', '*.csv'], exclude: ['out/deep', '/[#o]*'] }), [
    'a.bin',
    'src/b.bin',
  ]);
  assert.deepEqual(await outcome(root, { exclude: ['*.py'] }), ['.gitignore']);
  const selection = await selectFiles(root, { isTrusted: true, exclude: ['*.py'] });
  assert.equal(selection.excluded.find(({ path }) => path === 'src/x.py')?.reason, 'user');
  // What is left out anyway is matched, also in a folder that is left out as a whole.
  for (const exclude of ['out', '*.bin', 'out/deep/*.txt', '3.*']) {
    assert.deepEqual(await outcome(root, { exclude: [exclude] }), base, exclude);
  }
});

test('a choice that matches nothing is an error that names it', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, {
    'data/train.csv': '',
    'x.py': '',
    '.env.local': 'K=1',
    'node_modules/a/i.js': '',
    'empty/.keep': '',
  });
  rmSync(join(root, 'empty/.keep'));
  const relative = 'Enter a path relative to the folder, or a pattern such as *.csv.';
  for (const [what, options] of [
    ['included', (text: string) => ({ include: ['x.py', text] })],
    ['excluded', (text: string) => ({ exclude: ['x.py', text] })],
  ] as const) {
    assert.equal(
      await outcome(root, options('data/trian.csv')),
      `missing: data/trian.csv does not exist in ${root}, so it cannot be ${what}. Did you mean data/train.csv? ${relative}`,
    );
    assert.equal(
      await outcome(root, options('*.parquet')),
      `missing: The pattern *.parquet matches nothing in ${root}, so nothing can be ${what}. Patterns have the syntax of .gitignore.`,
    );
    assert.match(String(await outcome(root, options('../*.py'))), /^bad-input: \.\.\/\*\.py is not in/);
    assert.match(String(await outcome(root, options('/etc/passwd'))), /^bad-input: \/etc\/passwd is not in/);
    assert.match(String(await outcome(root, options('!*.py'))), /^bad-input: !\*\.py starts with !/);
  }
  // What the built-in rules leave out needs its path.
  assert.equal(
    await outcome(root, { include: ['.env*'] }),
    'refused: .env* matches .env.local, which a pattern does not include (.env*), so nothing was sent. Include it by its path.',
  );
  assert.deepEqual(await outcome(root, { include: ['.env.local'] }), ['.env.local', 'data/train.csv', 'x.py']);
  assert.deepEqual(await outcome(root, { include: ['*'] }), ['data/train.csv', 'x.py']);
  assert.deepEqual(await outcome(root, { include: ['node_modules/*'] }), [
    'data/train.csv',
    'node_modules/a/i.js',
    'x.py',
  ]);
  assert.match(
    String(await outcome(root, { include: ['empty'] })),
    /^refused: empty was included but cannot be sent \(it contains no file/,
  );
});

test('a chosen file that cannot be sent is an error with the reason', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { 'x.py': '', 'A.txt': '', 'closed.txt': '' });
  execFileSync('mkfifo', [join(root, 'pipe')]);
  chmodSync(join(root, 'closed.txt'), 0);
  const reasons: Record<string, RegExp> = { pipe: /\(reason: not a regular file\), so nothing was sent/ };
  if (process.getuid?.() !== 0) reasons['closed.txt'] = /\(reason: no permission to read it\)/;
  for (const [path, reason] of Object.entries(reasons)) {
    assert.match(String(await outcome(root, { include: [path] })), reason);
  }
});

for (const isTrusted of [true, false]) {
  const how = isTrusted ? 'with git' : 'without git';

  test(`a chosen repository is sent by its own rules without its .git, and so is one that .farwharfignore includes, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    const library = temporaryFolder(t);
    git(library, 'init', '-b', 'main');
    writeTree(library, { '.gitignore': '*.log\n', 'lib.py': '', 'deep/x.py': '' });
    git(library, 'add', '.');
    git(library, 'commit', '-m', 'first');
    git(root, 'init');
    git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', library, 'vendor');
    git(root, 'clone', library, 'third');
    git(library, 'worktree', 'add', join(root, 'tree'), '-b', 'other');
    git(join(root, 'third'), 'clone', library, 'nested');
    for (const name of ['vendor', 'third', 'tree']) {
      writeTree(root, {
        [`${name}/debug.log`]: '',
        [`${name}/new.py`]: '',
        [`${name}/big.bin`]: '',
        [`${name}/.env`]: 'K=1',
      });
    }
    const own = ['.gitmodules'];
    const filesOf = (name: string, without: readonly string[] = []): string[] =>
      ['.gitignore', 'big.bin', 'deep/x.py', 'lib.py', 'new.py']
        .filter((file) => !without.includes(file))
        .map((file) => `${name}/${file}`);
    const nested = ['third/nested/.gitignore', 'third/nested/deep/x.py', 'third/nested/lib.py'];

    const before = await selectFiles(root, { isTrusted });
    assert.deepEqual(paths(before), own);
    assert.deepEqual(
      before.excluded.map(({ path, type, rule }) => [path, type, rule]),
      [
        ['.git', 'directory', '.git'],
        ...['third', 'tree', 'vendor'].map((path) => [path, 'directory', 'inner repository']),
      ],
    );

    for (const name of ['vendor', 'tree']) {
      const chosen = await selectFiles(root, { isTrusted, include: [name] });
      assert.deepEqual(paths(chosen), [...own, ...filesOf(name)]);
      const inside = chosen.excluded.filter(({ path }) => path.startsWith(name));
      assert.deepEqual(
        inside.map(({ path, type, reason, at }) => [path, type, reason, at]),
        [
          [`${name}/.env`, 'file', 'secret', undefined],
          [`${name}/.git`, 'file', 'git', undefined],
          [`${name}/debug.log`, 'file', 'gitignore', `${name}/.gitignore:1`],
        ],
      );
    }
    const third = await selectFiles(root, { isTrusted, include: ['third'] });
    assert.deepEqual(paths(third), [...own, ...filesOf('third'), ...nested].toSorted());
    assert.deepEqual(await selectFiles(root, { isTrusted, include: ['th*'] }), third);

    writeTree(root, { '.farwharfignore': '!third\n!vendor/\nthird/nested/\n*.bin\n' });
    const ruled = await selectFiles(root, { isTrusted });
    const without = ['big.bin'];
    assert.deepEqual(paths(ruled), [
      '.farwharfignore',
      ...own,
      ...filesOf('third', without),
      ...filesOf('vendor', without),
    ]);
    assert.deepEqual(
      ruled.excluded.filter(({ path }) => !path.includes('/')).map(({ path }) => path),
      ['.git', 'tree'],
    );
    // A search after a change of one file in it.
    const only = ['third/lib.py', 'third/debug.log', 'tree/lib.py'];
    const searched = await selectSearchable(root, { isTrusted, only });
    assert.deepEqual(
      searched.files.map(({ path }) => path),
      ['third/lib.py'],
    );
  });
}

test('a submodule that is not checked out, and what replaced a tracked file, are named', async (t) => {
  const root = temporaryFolder(t);
  const library = temporaryFolder(t);
  git(library, 'init');
  writeTree(library, { 'lib.py': '' });
  git(library, 'add', '.');
  git(library, 'commit', '-m', 'first');
  git(root, 'init');
  writeTree(root, { was: 'a file' });
  git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', library, 'vendor');
  git(root, 'add', '.');
  git(root, 'submodule', 'deinit', '-f', 'vendor');
  rmSync(join(root, 'was'));
  writeTree(root, { 'was/now.txt': '' });
  symlinkSync('was', join(root, 'link'));
  const selection = await selectFiles(root, { isTrusted: true });
  assert.deepEqual(paths(selection), ['.gitmodules', 'was/now.txt']);
  const { rule } = selection.excluded.find(({ path }) => path === 'vendor') ?? {};
  assert.equal(rule, 'submodule that is not checked out');
  assert.match(String(await outcome(root, { include: ['vendor'] })), /git submodule update --init/);
});
