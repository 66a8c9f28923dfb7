import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { requireOwnHome } from '../../../../src/core/files/ownFiles.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** A home with what decides in it, inside a folder of its own. */
function makeHome(t: TestContext): { above: string; home: string; state: string } {
  const above = mkdtempSync(join(tmpdir(), 'farwharf-own-'));
  t.after(() => rmSync(above, { recursive: true, force: true }));
  const home = join(above, 'data folder');
  mkdirSync(join(home, 'service'), { recursive: true, mode: 0o700 });
  const state = join(home, 'service', 'state.json');
  for (const file of [state, join(home, 'jobs.sqlite')]) writeFileSync(file, '{}', { mode: 0o600 });
  requireOwnHome(home);
  return { above, home, state };
}

test('what other users can write is refused with the command that mends it', (t) => {
  const { above, home, state } = makeHome(t);
  for (const path of [state, join(home, 'jobs.sqlite'), join(home, 'service'), home, above]) {
    chmodSync(path, 0o777);
    assert.throws(() => requireOwnHome(home), {
      code: 'refused',
      message: new RegExp(`^${path} can be written by other users \\(mode 0777\\)\\. .*chmod go-w '?${path}'?$`),
    });
    chmodSync(path, 0o700);
    requireOwnHome(home);
  }
});

test('a folder above that all may write, but only with files of their own, is fine, as /tmp is', (t) => {
  const { above, home } = makeHome(t);
  chmodSync(above, 0o1777);
  requireOwnHome(home);
});

test('what others can read alone is fine, and so is a home that is not there yet', (t) => {
  const { above, home, state } = makeHome(t);
  for (const path of [above, home]) chmodSync(path, 0o755);
  chmodSync(state, 0o644);
  requireOwnHome(home);
  requireOwnHome(join(above, 'later', 'home'));
});

test('what belongs to another user is refused', { skip: !isRoot && 'only root can give files away' }, (t) => {
  const { home, state } = makeHome(t);
  for (const path of [state, join(home, 'service'), home]) {
    chownSync(path, NOBODY, NOBODY);
    assert.throws(() => requireOwnHome(home), {
      code: 'refused',
      message: new RegExp(`^${path} belongs to another user \\(number ${NOBODY}\\)\\. .*chown 0 `),
    });
    chownSync(path, 0, 0);
  }
});

test('a group of others counts as others', { skip: !isRoot && 'only root can give files away' }, (t) => {
  const { home, state } = makeHome(t);
  chmodSync(state, 0o660);
  requireOwnHome(home); // the group of root itself
  chownSync(state, 0, NOBODY);
  assert.throws(() => requireOwnHome(home), { code: 'refused', message: /mode 0660/ });
});

test('a link is judged by what it leads to', (t) => {
  const { above, home, state } = makeHome(t);
  const elsewhere = join(above, 'elsewhere.json');
  writeFileSync(elsewhere, '{}', { mode: 0o600 });
  rmSync(state);
  symlinkSync(elsewhere, state);
  requireOwnHome(home);
  chmodSync(elsewhere, 0o666);
  assert.throws(() => requireOwnHome(home), { code: 'refused', message: /mode 0666/ });
});
