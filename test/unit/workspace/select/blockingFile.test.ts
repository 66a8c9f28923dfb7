import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { abortIfBlocked } from '../../../../src/workspace/select/gitListing.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const skip = process.platform === 'win32' && 'NOT ON WINDOWS: it has no pipes in folders';

/** Whether git would be stopped in a folder with a pipe at this path; the folder may be below the top of its repository. */
async function isBlocked(
  t: TestContext,
  pipe: string | undefined,
  prepare = (_top: string): void => {},
): Promise<boolean> {
  const top = temporaryFolder(t);
  writeTree(top, { 'root/sub/file': '', 'root/.gitignore': '*.tmp\n', '.gitignore': '' });
  if (pipe !== undefined) {
    rmSync(join(top, pipe), { force: true });
    mkdirSync(dirname(join(top, pipe)), { recursive: true });
    execFileSync('mkfifo', [join(top, pipe)]);
  }
  prepare(top);
  const [blocked, done] = [new AbortController(), new AbortController()];
  await abortIfBlocked(join(top, 'root'), top, { blocked, done: done.signal });
  return blocked.signal.aborted;
}

test('git is stopped where it would wait for an ignore file that is a pipe, in the folder, above or below', {
  skip,
}, async (t) => {
  // The search begins after a second, so all of them run at once.
  const running = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(running));
  const outcomes = await Promise.all(
    [
      undefined,
      '.gitignore',
      'root/.gitignore',
      'root/sub/.gitignore',
      'root/sub/.git/HEAD',
      'root/.git/HEAD',
      'root/pipe',
      'root/.git/.gitignore',
      'other/.gitignore',
    ].map(async (pipe) => [pipe, await isBlocked(t, pipe)]),
  );
  assert.deepEqual(outcomes, [
    [undefined, false],
    ['.gitignore', true],
    ['root/.gitignore', true],
    ['root/sub/.gitignore', true],
    ['root/sub/.git/HEAD', true],
    ['root/.git/HEAD', false],
    ['root/pipe', false],
    ['root/.git/.gitignore', false],
    ['other/.gitignore', false],
  ]);
});

test('a folder or a link in place of an ignore file, and one of any size up to 100 MB, do not block git', {
  skip,
}, async (t) => {
  const running = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(running));
  const replaced = (path: string, by: (path: string) => void) => (top: string) => {
    rmSync(join(top, path), { force: true });
    by(join(top, path));
  };
  const sized =
    (bytes: number) =>
    (path: string): void => {
      writeFileSync(path, '');
      truncateSync(path, bytes);
    };
  const outcomes = await Promise.all([
    isBlocked(
      t,
      undefined,
      replaced('root/.gitignore', (path) => mkdirSync(path)),
    ),
    isBlocked(
      t,
      undefined,
      replaced('root/.gitignore', (path) => symlinkSync('/dev/zero', path)),
    ),
    isBlocked(t, undefined, replaced('root/.gitignore', sized(100 * 2 ** 20))),
    isBlocked(t, undefined, replaced('root/.gitignore', sized(100 * 2 ** 20 + 1))),
  ]);
  assert.deepEqual(outcomes, [false, false, false, true]);
});

test('nothing is searched once git has finished', { skip }, async (t) => {
  const top = temporaryFolder(t);
  execFileSync('mkfifo', [join(top, '.gitignore')]);
  const blocked = new AbortController();
  await abortIfBlocked(top, top, { blocked, done: AbortSignal.abort() });
  assert.equal(blocked.signal.aborted, false);
});
