import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Exclusion, selectFiles, type Selection } from '../../../../src/workspace/select/selection.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

const paths = ({ files }: Selection): string[] => files.map(({ path }) => path);
const exclusionOf = ({ excluded }: Selection, path: string): Exclusion | undefined =>
  excluded.find((exclusion) => exclusion.path === path);

test('an ignore rule that is longer than any path is passed over, and the others are obeyed', async (t) => {
  const root = temporaryFolder(t);
  const tooLong = `${'x?'.repeat(50_000)}.log`;
  writeTree(root, { '.farwharfignore': `${tooLong}\n*.tmp\n`, 'a.tmp': '', 'a.log': '' });
  const selection = await selectFiles(root, { isTrusted: false });
  assert.deepEqual(paths(selection), ['.farwharfignore', 'a.log']);
});

for (const isTrusted of [true, false]) {
  const how = isTrusted ? 'with git' : 'without git';

  test(`what Farwharf itself stores is not sent, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, {
      'train.py': '',
      // Each is a name that a project can have by itself.
      'mine/jobs.sqlite': '',
      'mine/key': '',
      '.local/share/farwharf/jobs.sqlite': '',
      '.local/share/farwharf/spool/1.jsonl': 'the log of a job',
      '.local/share/farwharf/signIns/gpu.example.org.json': '{"access_token":"x"}',
      '.local/share/farwharf/service/state.json': '{"key":"x"}',
      'new/jobs.sqlite': '',
      'new/service/state.json': '{"key":"x"}',
      'served/service.db': '',
      'served/runner.key': '',
      'served/jobs/1/workspace/a.txt': '',
      'machine/key': 'x',
      'machine/node': '/usr/bin/node',
      'machine/versions/1/machineService.mjs': '',
      'machine/home/service/state.json': '{}',
    });
    const selection = await selectFiles(root, { isTrusted });
    assert.deepEqual(paths(selection), ['mine/jobs.sqlite', 'mine/key', 'train.py']);
    for (const path of ['.local/share/farwharf', 'new', 'served', 'machine']) {
      const { type, reason, rule } = exclusionOf(selection, path) ?? {};
      assert.deepEqual([type, reason, rule], ['directory', 'secret', 'data of Farwharf'], path);
    }
  });

  test(`every file that is left out has its reason, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, {
      '.gitignore': '# built\n*.o\nbuild/\n',
      'src/.gitignore': 'local.txt\n',
      'src/main.py': 'print(1)',
      'src/main.o': '',
      'src/local.txt': '',
      'build/a/b.txt': '',
      '.farwharfignore': 'data/raw/\n',
      'data/raw/1.csv': '',
      'data/clean.csv': '',
      '.env': 'KEY=1',
      '.env.example': 'KEY=',
      'env/pyvenv.cfg': '',
      'env/bin/python': '',
      'node_modules/x/index.js': '',
      'pkg/__pycache__/a.pyc': '',
      'pkg/id_ed25519': '',
      '.farwharf-staging-abc/files/x': '',
    });
    writeTree(root, { 'library/.git/HEAD': 'ref: refs/heads/main\n', 'library/code.py': '' });
    git(join(root, 'library'), 'init');
    symlinkSync('/etc/passwd', join(root, 'passwords'));
    symlinkSync('src', join(root, 'linked'));

    const selection = await selectFiles(root, { isTrusted });

    assert.deepEqual(paths(selection), [
      '.env.example',
      '.farwharfignore',
      '.gitignore',
      'data/clean.csv',
      'src/.gitignore',
      'src/main.py',
    ]);
    assert.deepEqual(
      selection.excluded.map(({ path, type, reason, rule, at }) => [path, type, reason, rule, at]),
      [
        ['.env', 'file', 'secret', '.env*', undefined],
        ['.farwharf-staging-abc', 'directory', 'cache', '.farwharf-staging-*', undefined],
        ['.git', 'directory', 'git', '.git', undefined],
        ['build', 'directory', 'gitignore', 'build/', '.gitignore:3'],
        ['data/raw', 'directory', 'farwharfignore', 'data/raw/', '.farwharfignore:1'],
        ['env', 'directory', 'venv', 'pyvenv.cfg', undefined],
        ['library', 'directory', 'git', 'inner repository', undefined],
        ['linked', 'file', 'link', 'leads to src', undefined],
        ['node_modules', 'directory', 'cache', 'node_modules', undefined],
        ['passwords', 'file', 'link', 'leads to /etc/passwd', undefined],
        ['pkg/__pycache__', 'directory', 'cache', '__pycache__', undefined],
        ['pkg/id_ed25519', 'file', 'secret', 'private key file', undefined],
        ['src/local.txt', 'file', 'gitignore', 'local.txt', 'src/.gitignore:1'],
        ['src/main.o', 'file', 'gitignore', '*.o', '.gitignore:2'],
      ],
    );
  });

  test(`.farwharfignore wins over .gitignore in both directions, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, {
      '.gitignore': 'models/\n*.log\n',
      '.farwharfignore': '!models/best.pt\n!keep.log\nnotes.md\n!.env\n',
      'models/best.pt': 'w',
      'models/old.pt': 'w',
      'models/deep/x.pt': 'w',
      'keep.log': '',
      'drop.log': '',
      'notes.md': '',
      '.env': 'K=1',
    });
    const selection = await selectFiles(root, { isTrusted });
    assert.deepEqual(paths(selection), ['.farwharfignore', '.gitignore', 'keep.log', 'models/best.pt']);
    assert.equal(exclusionOf(selection, 'models/old.pt')?.reason, 'gitignore');
    assert.equal(exclusionOf(selection, 'models/deep')?.type, 'directory');
    assert.equal(exclusionOf(selection, 'notes.md')?.reason, 'farwharfignore');
    assert.equal(exclusionOf(selection, '.env')?.reason, 'secret');
  });

  test(`a folder that git ignores is sent as a whole if .farwharfignore includes it, but not its caches, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, {
      '.gitignore': 'models/\n*.log\n',
      '.farwharfignore': '!models/\nmodels/drafts/\n',
      'models/best.pt': 'w',
      'models/train.log': 'l',
      'models/deep/x.pt': 'w',
      'models/drafts/y.pt': 'w',
      'models/__pycache__/a.pyc': '',
    });
    const selection = await selectFiles(root, { isTrusted });
    assert.deepEqual(paths(selection), [
      '.farwharfignore',
      '.gitignore',
      'models/best.pt',
      'models/deep/x.pt',
      'models/train.log',
    ]);
    assert.equal(exclusionOf(selection, 'models/drafts')?.reason, 'farwharfignore');
  });

  test(`rules of the repository above the folder count, with places seen from the folder, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, {
      '.gitignore': '*.tmp\n',
      'sub/.gitignore': '*.bak\n',
      'sub/a.tmp': '',
      'sub/b.bak': '',
      'sub/c': '',
    });
    const selection = await selectFiles(join(root, 'sub'), { isTrusted });
    assert.deepEqual(paths(selection), ['.gitignore', 'c']);
    assert.equal(exclusionOf(selection, 'a.tmp')?.at, '../.gitignore:1');
    assert.equal(exclusionOf(selection, 'b.bak')?.at, '.gitignore:1');
  });

  test(`a folder that the repository above ignores as a whole is sent by its own rules, ${how}`, async (t) => {
    const home = temporaryFolder(t);
    git(home, 'init');
    writeTree(home, {
      '.gitignore': '*\n',
      'project/main.py': '',
      'project/a.tmp': '',
      'project/.gitignore': '*.tmp\n',
    });
    const selection = await selectFiles(join(home, 'project'), { isTrusted });
    assert.deepEqual(paths(selection), ['.gitignore', 'main.py']);
  });

  test(`a choice of a person overrides every rule, in both directions, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, {
      '.gitignore': 'out/\n',
      '.env': 'K=1',
      'out/a.bin': '',
      'out/deep/b.bin': '',
      'src/x.py': '',
      'src/y.py': '',
    });
    const selection = await selectFiles(root, { isTrusted, include: ['.env', 'out'], exclude: ['src/x.py'] });
    assert.deepEqual(paths(selection), ['.env', '.gitignore', 'out/a.bin', 'out/deep/b.bin', 'src/y.py']);
    assert.equal(exclusionOf(selection, 'out'), undefined);
    assert.equal(exclusionOf(selection, 'src/x.py')?.reason, 'user', 'and not that of an ignore file');
    await assert.rejects(selectFiles(root, { isTrusted, include: ['../x'] }), { code: 'bad-input' });
  });

  test(`special files and names that would not arrive are reported, ${how}`, async (t) => {
    if (process.platform === 'win32') return t.skip('Windows has no pipes in folders and no such names');
    const root = temporaryFolder(t);
    git(root, 'init');
    execFileSync('mkfifo', [join(root, 'pipe')]);
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]), '');
    writeTree(root, { 'tab\tname': '', 'back\\slash': '', Readme: '1', README: '2', fine: '' });
    const selection = await selectFiles(root, { isTrusted });
    assert.deepEqual(paths(selection), ['README', 'Readme', 'back\\slash', 'fine']);
    const reasons = selection.excluded
      .filter(({ reason }) => reason === 'special' || reason === 'name')
      .map(({ path, reason, rule }) => [path, reason, rule]);
    assert.deepEqual(reasons, [
      ['bad-\ufffd', 'name', 'its name is not valid UTF-8'],
      ['pipe', 'special', 'not a regular file'],
      ['tab\tname', 'name', 'its name contains control characters'],
    ]);
    assert.deepEqual(selection.findings, [
      {
        type: 'same-name',
        path: 'Readme',
        message:
          'Readme has the same name as README on some systems. A service whose disk ignores case gives one of them another name.',
      },
    ]);
  });

  test(`what cannot be read is named, ${how}`, async (t) => {
    if (process.getuid?.() === 0) return t.skip('SKIPPED: root can read everything; run as another user to check this');
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, { 'closed/x': '', secretive: '', open: '' });
    chmodSync(join(root, 'secretive'), 0);
    chmodSync(join(root, 'closed'), 0);
    const selection = await selectFiles(root, { isTrusted }).finally(() => chmodSync(join(root, 'closed'), 0o700));
    assert.deepEqual(paths(selection), ['open']);
    assert.equal(exclusionOf(selection, 'closed')?.reason, 'unreadable');
    assert.equal(exclusionOf(selection, 'secretive')?.reason, 'unreadable');
  });

  test(`files with the names of excluded folders are sent, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    git(root, 'init');
    writeTree(root, {
      '.farwharfignore': 'raw/\n',
      raw: '',
      node_modules: '',
      '.venv': '',
      'sub/raw': '',
      'sub/.tox': '',
    });
    const selection = await selectFiles(root, { isTrusted });
    assert.deepEqual(paths(selection), ['.farwharfignore', '.venv', 'node_modules', 'raw', 'sub/.tox', 'sub/raw']);
  });

  test(`an empty folder gives an empty selection, ${how}`, async (t) => {
    const selection = await selectFiles(temporaryFolder(t), { isTrusted });
    assert.deepEqual({ files: selection.files, totalBytes: selection.totalBytes }, { files: [], totalBytes: 0 });
  });
}

test('what git tracks is sent although a rule ignores it, and said; what was deleted is not', async (t) => {
  const root = temporaryFolder(t);
  git(root, 'init');
  writeTree(root, { 'kept.log': '1', gone: '1' });
  git(root, 'add', '.');
  git(root, 'commit', '-m', 'first');
  writeTree(root, { '.gitignore': '*.log\n', 'other.log': '' });
  rmSync(join(root, 'gone'));
  const selection = await selectFiles(root, { isTrusted: true });
  assert.deepEqual(paths(selection), ['.gitignore', 'kept.log']);
  assert.deepEqual(
    selection.findings.map(({ type, path }) => [type, path]),
    [['tracked-but-ignored', 'kept.log']],
  );
});

test("the user's own ignore file counts, that of the repository's configuration more", async (t) => {
  const root = temporaryFolder(t);
  const home = temporaryFolder(t);
  git(root, 'init');
  writeTree(home, { mine: '*.mine\n', 'git/ignore': '*.usual\n', theirs: '*.theirs\n' });
  writeTree(root, { 'a.mine': '', 'a.usual': '', 'a.theirs': '', 'a.txt': '' });
  const before = { HOME: process.env['HOME'], XDG_CONFIG_HOME: process.env['XDG_CONFIG_HOME'] };
  t.after(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  Object.assign(process.env, { HOME: home, XDG_CONFIG_HOME: home });
  const excluded = async (): Promise<(string | undefined)[][]> => {
    const selection = await selectFiles(root, { isTrusted: true });
    return selection.excluded.filter(({ reason }) => reason === 'gitignore').map(({ path, at }) => [path, at]);
  };
  assert.deepEqual(await excluded(), [['a.usual', `${join(home, 'git/ignore')}:1`]]);
  writeFileSync(join(home, '.gitconfig'), '[core]\n\texcludesFile = ~/mine\n');
  assert.deepEqual(await excluded(), [['a.mine', `${join(home, 'mine')}:1`]]);
  git(root, 'config', 'core.excludesFile', join(home, 'theirs'));
  assert.deepEqual(await excluded(), [['a.theirs', `${join(home, 'theirs')}:1`]]);
});

test('git runs nothing that the folder configures, and leaves its index alone', async (t) => {
  const root = temporaryFolder(t);
  git(root, 'init');
  const trap = join(root, 'trap.sh');
  writeTree(root, { 'trap.sh': `#!/bin/sh\ntouch '${root}/sprung'\n` });
  chmodSync(trap, 0o755);
  git(root, 'config', 'core.fsmonitor', trap);
  git(root, 'config', 'core.pager', trap);
  git(root, 'config', 'core.hooksPath', root);
  const selection = await selectFiles(root, { isTrusted: true });
  assert.deepEqual(paths(selection), ['trap.sh']);
  assert.throws(() => execFileSync('test', ['-e', join(root, 'sprung')]));
});

test('secrets are found in the content of small text files, placeholders are not', async (t) => {
  const root = temporaryFolder(t);
  const letters = 'Zk3pQ9vXw7LmN2bRt8YcHs5JdFg4TuEaVo6i';
  const key = Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 73 + 11) % 256)).toString('base64');
  writeTree(root, {
    'a.py': `token = "ghp_${letters}"`,
    'b.json': '{"key": "AKIAJ7QZ5WX3LMN4PRST"}',
    'ci.sh': `export FARWHARF_API_KEY=fw_${letters}0aZ9-_k`,
    'c.txt': `-----BEGIN RSA PRIVATE KEY-----\n${key}\n-----END RSA PRIVATE KEY-----\n`,
    'doc.md': `Use AKIAIOSFODNN7EXAMPLE or ghp_${'x'.repeat(36)}; the file starts with -----BEGIN PRIVATE KEY-----.`,
    'cert.txt': `-----BEGIN CERTIFICATE-----\n${key}\n-----END CERTIFICATE-----\n`,
  });
  const selection = await selectFiles(root, { isTrusted: false });
  assert.deepEqual(paths(selection), ['cert.txt', 'doc.md']);
  assert.deepEqual(
    selection.excluded.map(({ path, rule }) => [path, rule]),
    [
      ['a.py', 'GitHub token'],
      ['b.json', 'AWS access key'],
      ['c.txt', 'private key'],
      ['ci.sh', 'Farwharf API key'],
    ],
  );
  assert.equal(selection.findings.length, 4);
  assert.deepEqual(paths(await selectFiles(root, { isTrusted: false, include: ['a.py'] })), [
    'a.py',
    'cert.txt',
    'doc.md',
  ]);
});

test('limits leave out large files, and refuse a folder that is too large with its largest parts', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { 'big/a': 'x'.repeat(2000), 'small/b': 'x' });
  const selection = await selectFiles(root, { isTrusted: false, maxFileBytes: 1000 });
  assert.deepEqual(exclusionOf(selection, 'big/a')?.reason, 'limit');
  await assert.rejects(selectFiles(root, { isTrusted: false, maxTotalBytes: 1500 }), {
    code: 'limit',
    message: /2\.0 KB.*1\.5 KB.*big\/ \(2\.0 KB\)/,
  });
  await assert.rejects(selectFiles(root, { isTrusted: false, maxFiles: 1 }), { code: 'limit' });
});

test('a missing folder, a file and an abort are clear failures', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { file: '' });
  mkdirSync(join(root, 'folder'));
  await assert.rejects(selectFiles(join(root, 'nowhere'), { isTrusted: true }), { code: 'missing' });
  await assert.rejects(selectFiles(join(root, 'file'), { isTrusted: true }), { code: 'bad-input' });
  const signal = AbortSignal.abort();
  await assert.rejects(selectFiles(root, { isTrusted: true, signal }), { name: 'AbortError' });
});

test('a file of 25 MB or more is sent, and said', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { large: '', 'not-quite': '' });
  truncateSync(join(root, 'large'), 25_000_000);
  truncateSync(join(root, 'not-quite'), 24_999_999);
  const selection = await selectFiles(root, { isTrusted: false });
  assert.deepEqual(paths(selection), ['large', 'not-quite']);
  assert.deepEqual(selection.findings, [
    {
      type: 'large-file',
      path: 'large',
      message: 'large has 25.0 MB. Leave it out if the job does not need it.',
    },
  ]);
});

test('of a folder that is included, everything is sent but the data of git', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, {
    '.gitignore': 'lib/\n',
    'lib/.git/config': '[core]',
    'lib/.gitignore': '*.bin\n',
    'lib/a.bin': 'a',
    'lib/deep/.git/HEAD': 'ref',
    'lib/deep/b.py': 'b',
    'out/a.bin': 'a',
    'out/.gitignore': '*.bin\n',
    'out/.env': 'K=1',
    'out/node_modules/c.js': 'c',
  });
  const selected = await selectFiles(root, { isTrusted: false, include: ['lib', 'out'] });
  const out = ['out/.env', 'out/.gitignore', 'out/a.bin', 'out/node_modules/c.js'];
  assert.deepEqual(paths(selected), ['.gitignore', 'lib/.gitignore', 'lib/deep/b.py', ...out]);
  assert.deepEqual(
    selected.excluded.map(({ path, reason }) => [path, reason]),
    [
      ['lib/.git', 'git'],
      ['lib/a.bin', 'gitignore'],
      ['lib/deep/.git', 'git'],
    ],
  );
});
