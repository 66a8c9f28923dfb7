import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { npmReason, runNpm } from '../../../../src/core/processes/npm.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

const skip = process.platform === 'win32' && 'NOT ON WINDOWS: the program is a script for sh';

/** A folder with a program `npm` that runs this script, and an environment in which it is found. */
function makeNpm(t: TestContext, script: string): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { cwd, env: { PATH: `${cwd}:${process.env['PATH']}` } };
}

test('npm runs no scripts of packages, prints only errors, and what it prints is returned', { skip }, async (t) => {
  const options = makeNpm(t, 'echo "$PWD: $@"; echo also >&2');
  const outcome = await runNpm(['install', 'a b'], options);
  assert.equal(outcome.type, 'done');
  const flags = '--ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1';
  assert.deepEqual(outcome.output.trim().split('\n').toSorted(), [`${options.cwd}: install a b ${flags}`, 'also']);
});

test('a failed npm differs from one that is not installed', { skip }, async (t) => {
  assert.deepEqual(await runNpm([], makeNpm(t, 'echo no; exit 3')), { type: 'failed', output: 'no\n' });
  assert.deepEqual(await runNpm([], makeNpm(t, 'kill -9 $$')), { type: 'failed', output: '' });
  assert.deepEqual(await runNpm([], { cwd: temporaryFolder(t), env: { PATH: '/nonexistent' } }), { type: 'missing' });
});

test('an npm that may not be started is an error of the system', { skip }, async (t) => {
  const { cwd } = makeNpm(t, 'exit 0');
  chmodSync(join(cwd, 'npm'), 0o644);
  await assert.rejects(runNpm([], { cwd, env: { PATH: cwd } }), { code: 'EACCES' });
});

test('only the last 4,000 characters of what npm prints are returned', { skip }, async (t) => {
  const outcome = await runNpm([], makeNpm(t, `printf 'a%.0s' $(seq 3000); printf 'b%.0s' $(seq 3999)`));
  assert.deepEqual(outcome, { type: 'done', output: `a${'b'.repeat(3_999)}` });
});

test("an abort ends npm with the signal's reason", { skip }, async (t) => {
  const reason = new Error('enough');
  const stop = new AbortController();
  const running = runNpm([], { ...makeNpm(t, 'exec sleep 600'), signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(running, reason);
});

test('the reason of a failure is the first line that says something', () => {
  const output = [
    'npm error code E404',
    'npm ERR! errno -2',
    'npm error syscall open',
    'npm error path /a',
    'npm error command failed',
    'npm error cwd /b',
    '',
    'npm error',
    'npm error A complete log of this run can be found in /c',
    '  npm is here.',
    'npm error 404 Not Found.',
  ];
  assert.equal(npmReason(output.join('\n')), 'npm is here');
  assert.equal(npmReason(output.toSpliced(9, 1).join('\n')), '404 Not Found');
  assert.equal(npmReason(output.slice(0, 9).join('\n')), 'no reason given');
  assert.equal(npmReason('an npm error: a.b. c..'), 'an npm error: a.b. c.');
  assert.equal(npmReason('codec is missing'), 'codec is missing');
  assert.equal(npmReason(''), 'no reason given');
});
