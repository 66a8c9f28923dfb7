import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Scratch } from './commandLine.ts';
import { runInTerminal, whyNoTerminal } from './support/shell.ts';

/** Nothing was packed for what was refused. */
function assertRefused(
  scratch: Scratch,
  done: { exit: number | null; stderr: string },
  words: readonly RegExp[],
): void {
  assert.equal(done.exit, 2, done.stderr);
  for (const word of words) assert.match(done.stderr, word);
  assert.doesNotMatch(done.stderr, /packed|uploaded|HTTP \d/);
  assert.ok(!existsSync(join(scratch.home, 'archives')), 'an archive was made');
}

test('what a service cannot run is known before the upload, with the advice that fits', async () => {
  await using scratch = await Scratch.create();
  const bin = await scratch.folder('bin', { conda: '#!/bin/sh\n' });
  await chmod(join(bin, 'conda'), 0o755);
  const { env } = await scratch.serve([], { PATH: bin });
  const folder = await scratch.folder('project', {
    'a.R': 'print(1)\n',
    'nb.ipynb': '{}\n',
    'notes.txt': 'text\n',
    'r.txt': '#!/usr/bin/env Rscript\nprint(1)\n',
    'a.mjs': 'console.log("on")\n',
    'environment.yml': 'dependencies: [r-base]\n',
    'r.json': '{ "requirements": "environment.yml" }',
  });
  const submit = (script: string, ...flags: readonly string[]) =>
    scratch.run(['submit', folder, '--script', script, ...flags], { env });
  for (const flags of [[], ['--dry-run']]) {
    assertRefused(scratch, await submit('a.R', ...flags), [
      /cannot run a\.R\. Available: JavaScript, TypeScript\. .*list of packages that installs R/,
    ]);
    assertRefused(scratch, await submit('nb.ipynb', ...flags), [
      /cannot run nb\.ipynb\. .*packages that installs Jupyter/,
    ]);
    assertRefused(scratch, await submit('notes.txt', ...flags), [/in its first line, such as #!\/usr\/bin\/env/]);
  }
  const named = await submit('r.txt', '--dry-run');
  assert.equal(named.exit, 0, named.stderr);
  assert.match(named.stderr, /warning: .* may not have Rscript, which the first line of r\.txt names/);
  const brought = await submit('a.R', '--dry-run', '--venv', join(folder, 'r.json'));
  assert.equal(brought.exit, 0, brought.stderr);
  assert.equal((await submit('a.mjs', '--dry-run')).exit, 0);
});

test('a list of packages that is left out, missing or of another tool is known before the upload', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', {
    'a.py': 'print(1)\n',
    '.gitignore': 'requirements.txt\nmore/\n',
    'requirements.txt': 'numpy\n',
    'other.txt': '-r more/base.txt\n',
    'more/base.txt': 'numpy\n',
    Pipfile: '[[source]]\n',
    'renv.lock': '{}\n',
    'unknown.lock': '[[package]]\n',
    'env.yaml': 'dependencies: [numpy]\n',
    'compose.yaml': 'services: {}\n',
  });
  for (const [list, message] of [
    ['requirements.txt', /requirements\.txt, which lists packages of the job, is left out\. Reason: ignored by git/],
    ['other.txt', /more\/base\.txt, which lists packages of the job, is left out/],
    ['none.txt', /The folder has no none\.txt/],
    ['Pipfile', /cannot be installed from Pipfile\. .*pipenv requirements/],
    ['renv.lock', /renv\.lock is not a lock file of renv\. Run renv::snapshot\(\)/],
    ['unknown.lock', /unknown\.lock is not a requirements file/],
    ['compose.yaml', /compose\.yaml is not an environment of conda/],
  ] as const) {
    const venv = join(
      await scratch.folder('venv', { 'venv.json': JSON.stringify({ requirements: list }) }),
      'venv.json',
    );
    for (const flags of [[], ['--dry-run']]) {
      const done = await scratch.run(['submit', folder, '--script', 'a.py', '--venv', venv, ...flags], { env });
      assertRefused(scratch, done, [message]);
    }
  }
  const venv = join(await scratch.folder('venv', { 'venv.json': '\uFEFF{ "requirements": "env.yaml" }' }), 'venv.json');
  const conda = await scratch.run(['submit', folder, '--script', 'a.py', '--venv', venv, '--dry-run'], { env });
  assert.match(conda.stderr, /packages: env\.yaml will be installed first/);
});

test('the line ends of Windows in a shell script are reported before the upload', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const text = '#!/bin/bash\r\nif true; then\r\n  echo on\r\nfi\r\n';
  const folder = await scratch.folder('project', { 'my dir/run.sh': text, 'a.py': 'print("on")\r\n' });
  for (const flags of [[], ['--dry-run'], ['--json']]) {
    const done = await scratch.run(['submit', folder, '--script', String.raw`my\ dir/run.sh`, ...flags], { env });
    assertRefused(scratch, { ...done, stderr: done.stderr + done.stdout }, [
      /my dir\/run\.sh has the line ends of Windows/,
    ]);
  }
  assert.equal(await readFile(join(folder, 'my dir/run.sh'), 'utf8'), text, 'nobody agreed to rewrite it');
  const python = await scratch.run(['submit', folder, '--script', 'a.py', '--dry-run'], { env });
  assert.equal(python.exit, 0, python.stderr);
});

test('a shell script with the line ends of Windows is rewritten by one key, and runs', {
  skip: whyNoTerminal() ?? false,
}, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': '#!/bin/bash\r\nif true; then\r\n  echo on\r\nfi\r\n' });
  const done = await runInTerminal(scratch, `farwharf submit '${folder}' --script run.sh --watch`, {
    columns: 200,
    env,
    input: 'y\n',
  });
  assert.match(done.stdout, /run\.sh has the line ends of Windows\. .* Rewrite it now\? \[y\/N\]/);
  assert.match(done.stdout, /run\.sh now has LF line ends/);
  assert.deepEqual(done.statuses, [0], done.stdout);
  assert.equal(await readFile(join(folder, 'run.sh'), 'utf8'), '#!/bin/bash\nif true; then\n  echo on\nfi\n');
});

test('a path with an escaped space is the one that the service runs', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'my dir/x.mjs': 'console.log(process.argv[2])' });
  const done = await scratch.run(['submit', folder, '--script', String.raw`my\ dir/x.mjs a\ b`, '--watch'], { env });
  assert.equal(done.exit, 0, done.stderr);
  assert.equal(done.stdout, 'a b\n');
});

test('profiles are read with a byte order mark', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const profiles = '\uFEFF{ "profiles": { "run": { "script": "a.mjs" } } }';
  const folder = await scratch.folder('project', { 'a.mjs': '', 'farwharf.json': profiles });
  const done = await scratch.run(['submit', folder, '--profile', 'run', '--dry-run'], { env });
  assert.equal(done.exit, 0, done.stderr);
});

test('the credits that a service holds are compared as they are shown', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'a.mjs': '' });
  const done = await scratch.run(['submit', folder, '--script', 'a.mjs', '--max-runtime', '100000'], { env });
  assert.equal(done.exit, 0, done.stderr);
  assert.match(done.stderr, /166\.7 credits held/);
  assert.doesNotMatch(done.stderr, /more than/);
});

test('results that are downloaded again are not written twice', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const script = 'import { writeFileSync } from "node:fs"; writeFileSync("out.txt", "of the job");';
  const folder = await scratch.folder('project', { 'a.mjs': script });
  const sent = await scratch.run(['submit', folder, '--script', 'a.mjs', '--watch', '--json'], { env });
  const id = /"job_id":"([^"]+)"/.exec(sent.stdout)?.[1] ?? '';
  const into = await scratch.folder('into', { 'out.txt': 'mine' });
  for (let time = 0; time < 2; time += 1) {
    const done = await scratch.run(['download', id, '--into', into], { env });
    assert.equal(done.exit, 0, done.stderr);
    assert.equal((await readdir(into)).length, 2, (await readdir(into)).join());
  }
});

test('a service does not start with the key of an account as its own', async () => {
  await using scratch = await Scratch.create();
  const first = await scratch.serve();
  const admin = (...words: readonly string[]) => scratch.run(['admin', ...words, '--data', first.data], {});
  assert.equal((await admin('account', 'add', 'ada')).exit, 0);
  const added = await admin('key', 'add', 'ada', '--json');
  const { key: secret } = JSON.parse(added.stdout) as { key: string };
  await first.stop();
  const second = await scratch.run(['serve', '--port', '0', '--data', first.data], {
    env: { FARWHARF_API_KEY: secret },
  });
  assert.equal(second.exit, 1, second.stderr);
  assert.match(second.stderr, /FARWHARF_API_KEY is the key \w+ of the account "ada".*Unset the variable/);
  assert.ok(!second.stderr.includes(secret));
});
