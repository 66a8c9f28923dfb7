import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostileRepository, PROGRAM_KEYS, setTrap } from '../unit/workspace/select/hostileRepository.ts';
import { git } from '../unit/workspace/temporaryFolder.ts';
import { Scratch } from './commandLine.ts';

// Beside these no other trap could spring.
const DISARMING = /^(?:core\.worktree|remote\.origin\.vcs|url\.|http\.|include)/;

test('dry run, index and search run nothing from a prepared clone', async (t) => {
  await using scratch = await Scratch.create();
  for (const url of ['ext::TRAP', 'ssh://127.0.0.1:9/x', 'git://127.0.0.1:9/x', undefined]) {
    const hostile = hostileRepository(t);
    for (const { key, value } of PROGRAM_KEYS) if (!DISARMING.test(key)) setTrap(hostile, { key, value });
    if (url === undefined) git(hostile.root, 'config', 'remote.origin.url', join(hostile.root, '..'));
    else git(hostile.root, 'config', 'remote.origin.url', url.replace('TRAP', hostile.trap));
    for (const command of [
      ['submit', hostile.root, '--dry-run'],
      ['index', hostile.root],
      ['search', 'print'],
    ]) {
      const { exit, stderr } = await scratch.run(command, { cwd: hostile.root });
      assert.equal(exit, 0, stderr);
      assert.deepEqual(hostile.sprung(), [], `${command[0]} ${url}`);
    }
  }
});

test('GIT_* variables of the user and a git program inside the folder are ignored', async (t) => {
  await using scratch = await Scratch.create();
  const { root, trap, log, sprung } = hostileRepository(t);
  const bin = join(root, 'bin');
  mkdirSync(bin);
  for (const folder of [root, bin]) {
    writeFileSync(join(folder, 'git'), `#!/bin/sh\nexec '${trap}'\n`);
    chmodSync(join(folder, 'git'), 0o755);
  }
  const env = {
    PATH: `.:bin:${process.env['PATH']}`,
    GIT_DIR: join(root, '../elsewhere'),
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: trap,
    GIT_CONFIG_KEY_1: 'remote.origin.uploadpack',
    GIT_CONFIG_VALUE_1: trap,
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${trap}'`,
    GIT_EXEC_PATH: bin,
    GIT_EXTERNAL_DIFF: trap,
    GIT_PAGER: trap,
    GIT_ASKPASS: trap,
    GIT_SSH_COMMAND: trap,
    GIT_PROXY_COMMAND: trap,
    GIT_TRACE: log,
    GIT_TRACE_SETUP: log,
    GIT_TRACE2: log,
    GIT_TRACE2_EVENT: log,
    GIT_TRACE2_PERF: log,
    GIT_INDEX_FILE: join(root, '../index'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(root, '../objects'),
  };
  const { exit, stdout, stderr } = await scratch.run(['submit', root, '--dry-run'], { env, cwd: root });
  assert.equal(exit, 0, stderr);
  assert.equal(stdout, 'bin/git\nextra.py\ngit\ntrain.py\n');
  assert.deepEqual(sprung(), []);
});

test('the submit summary reports a repository owned by another user', async (t) => {
  if (process.geteuid?.() !== 0) return t.skip('SKIPPED: only root can give a folder to another user');
  await using scratch = await Scratch.create();
  const { root } = hostileRepository(t);
  chownSync(join(root, '.git'), 65_534, 65_534);
  const { stderr } = await scratch.run(['submit', root, '--dry-run']);
  assert.match(stderr, /note: The repository in .* belongs to another user, so git was not run/);
});
