import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

const FOLDER = {
  'train.py': 'print(1)\n',
  'data/rows.csv': '1,2\n',
  'debug.log': 'noise',
  '.env': 'TOKEN=1',
  'node_modules/x/index.js': '',
  '.gitignore': '*.log\n',
};

test('a dry run lists what would be sent and why the rest is left out, without a service', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:9' };
  const printed = await scratch.run(['submit', folder, '--dry-run', '--json', '--script', 'train.py'], { env });
  assert.equal(printed.exit, 0, printed.stderr);
  const [answer = {}] = jsonLines(printed.stdout);
  assert.deepEqual(answer['files'], [
    { path: '.gitignore', size: 6 },
    { path: 'data/rows.csv', size: 4 },
    { path: 'train.py', size: 9 },
  ]);
  const excluded = answer['excluded'] as { path: string; type: string; reason: string; at?: string }[];
  assert.deepEqual(
    excluded.map(({ path, type, reason }) => [path, type, reason]),
    [
      ['.env', 'file', 'secret'],
      ['debug.log', 'file', 'gitignore'],
      ['node_modules', 'directory', 'cache'],
    ],
  );
  assert.equal(excluded[1]?.at, '.gitignore:1');
  assert.equal(answer['total_bytes'], 19);
  assert.equal(typeof answer['estimated_bytes'], 'number');
  assert.ok(Array.isArray(answer['findings']));
});

test('a name that does not work on every system is of the reason `special`, with the rule', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', { 'train.py': '', 'tab\tname': '' });
  const { stdout } = await scratch.run(['submit', folder, '--dry-run', '--json', '--script', 'train.py']);
  const [answer = {}] = jsonLines(stdout);
  assert.deepEqual(answer['excluded'], [
    { path: 'tab\tname', type: 'file', reason: 'special', rule: 'its name contains control characters' },
  ]);
});

test('for people it lists the files on stdout and the reasons on stderr', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  const printed = await scratch.run(['submit', folder, '--dry-run', '--include', '.env', '--exclude', 'data']);
  assert.equal(printed.stdout, '.env\n.gitignore\ntrain.py\n');
  assert.match(printed.stderr, /debug\.log \(ignored by git\)/);
  assert.match(printed.stderr, /3 files, .* would be sent\. Nothing was sent\./);
});

test('help and version go to stdout with 0; without a verb the help goes to stderr with 2', async () => {
  await using scratch = await Scratch.create();
  const help = await scratch.run(['--help']);
  assert.equal(help.exit, 0);
  assert.match(help.stdout, /Exit status/);
  assert.match((await scratch.run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
  const bare = await scratch.run([]);
  assert.deepEqual([bare.exit, bare.stdout], [2, '']);
  assert.match(bare.stderr, /Usage: farwharf/);
});

test('a file that the script seems to read and the archive lacks is a finding, also without a service', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', {
    ...FOLDER,
    'train.py': 'import logging\nprint(open("debug.log").read())\n',
  });
  const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:9' };
  const printed = await scratch.run(['submit', folder, '--dry-run', '--script', 'train.py'], { env });
  assert.equal(printed.exit, 0, printed.stderr);
  assert.match(
    printed.stderr,
    /warning: train\.py may read debug\.log, which is left out\. Reason: ignored by git: \*\.log \(\.gitignore:1\)\. This is a guess from line 2\. .* --include PATH/,
  );
});
