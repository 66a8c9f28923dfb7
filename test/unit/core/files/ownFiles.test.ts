import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import {
  createPrivateFile,
  ensurePrivateFile,
  ensurePrivateFolder,
  requireOwn,
  requireOwnFile,
  requireOwnHome,
} from '../../../../src/core/files/ownFiles.ts';

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

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

test('the refusal says what is wrong, why that matters, and how to mend it', (t) => {
  const { home } = makeHome(t);
  chmodSync(home, 0o1702);
  assert.throws(() => requireOwnHome(home), {
    name: 'AppError',
    code: 'refused',
    message:
      `${home} can be written by other users (mode 1702). A user who can write it decides what is run and where your keys and files go, ` +
      `so it was not used. Check what it contains, then run:  chmod go-w '${home}'`,
  });
  chmodSync(home, 0o700);
  requireOwnHome(home);
});

test('a folder above counts with its links, and one that only its group can write is refused if that is of others', {
  skip: !isRoot && 'only root can give files away',
}, (t) => {
  const { above, home } = makeHome(t);
  chownSync(above, NOBODY, NOBODY);
  chmodSync(above, 0o770); // the private group of its owner
  requireOwnHome(home);
  chownSync(above, NOBODY, NOBODY - 1);
  assert.throws(() => requireOwnHome(home), { message: /mode 0770/ });
  chmodSync(above, 0o750);
  const link = join(tmpdir(), `farwharf-own-link-${process.pid}`);
  symlinkSync(home, link);
  t.after(() => rmSync(link));
  requireOwnHome(link);
  chmodSync(above, 0o757);
  assert.throws(() => requireOwnHome(link), { code: 'refused', message: new RegExp(`^${above} can be written`) });
});

test('a link of another user is refused, although what it leads to is ours', {
  skip: !isRoot && 'only root can give files away',
}, (t) => {
  const { home, state } = makeHome(t);
  const link = join(home, 'link.json');
  symlinkSync(state, link);
  lchownSync(link, NOBODY, NOBODY);
  assert.throws(() => requireOwnHome(home), {
    code: 'refused',
    message: /link\.json' ?belongs|link\.json belongs to another user/,
  });
});

test('what is missing belongs to nobody else', (t) => {
  const { home } = makeHome(t);
  requireOwn(join(home, 'missing'));
  requireOwn(join(home, 'jobs.sqlite', 'inside a file'));
  requireOwnFile(join(home, 'missing', 'program'));
});

test('a file that decides what is run is checked with the folders above it, and with what it leads to', (t) => {
  const { above, home } = makeHome(t);
  const [bin, program] = [join(above, 'bin'), join(above, 'bin', 'program')];
  mkdirSync(bin, { mode: 0o755 });
  writeFileSync(program, '', { mode: 0o755 });
  const link = join(home, 'program');
  symlinkSync(program, link);
  requireOwnFile(link);
  for (const path of [program, bin]) {
    chmodSync(path, 0o757);
    for (const file of [program, link]) {
      assert.throws(() => requireOwnFile(file), {
        code: 'refused',
        message: new RegExp(`^(?:${path}|${file}) can be written`),
      });
    }
    chmodSync(path, 0o755);
  }
  requireOwnFile(link);
});

test('a private folder is created with those above it, and one that others can read becomes private', (t) => {
  const { home } = makeHome(t);
  const folder = join(home, 'new', 'folder');
  ensurePrivateFolder(folder);
  assert.deepEqual([modeOf(folder), modeOf(join(home, 'new'))], [0o700, 0o700]);
  for (const mode of [0o701, 0o710, 0o755]) {
    chmodSync(folder, mode);
    ensurePrivateFolder(folder);
    assert.equal(modeOf(folder), 0o700, mode.toString(8));
  }
  chmodSync(folder, 0o500); // not for others already
  ensurePrivateFolder(folder);
  assert.equal(modeOf(folder), 0o500);
});

test('a file that others can read becomes private, and a missing one is not created', (t) => {
  const { home, state } = makeHome(t);
  chmodSync(state, 0o644);
  ensurePrivateFile(state);
  assert.deepEqual([modeOf(state), readFileSync(state, 'utf8')], [0o600, '{}']);
  ensurePrivateFile(join(home, 'missing'));
  assert.throws(() => statSync(join(home, 'missing')), { code: 'ENOENT' });
});

test('a private folder of another user is not taken over', {
  skip: !isRoot && 'only root can give files away',
}, (t) => {
  const { home } = makeHome(t);
  chownSync(home, NOBODY, NOBODY);
  assert.throws(() => ensurePrivateFolder(home), {
    code: 'permission',
    message: `${home} belongs to user ${NOBODY}, who could read and change the data of user 0 in it. Change its owner:  sudo chown -R 0 '${home}'`,
  });
  assert.equal(modeOf(home), 0o700);
});

function asNobody(run: () => void): void {
  process.seteuid?.(NOBODY);
  try {
    run();
  } finally {
    process.seteuid?.(0);
  }
}

test('a link of another user is not followed to a private folder or file, wherever it leads', {
  skip: !isRoot && 'only root can give links away',
}, (t) => {
  const { above, home, state } = makeHome(t);
  for (const folder of [above, home, join(home, 'service')]) chmodSync(folder, 0o755);
  for (const [target, ensure] of [
    [join(home, 'own'), ensurePrivateFolder],
    [state, ensurePrivateFile],
  ] as const) {
    ensure(target);
    const link = `${target}-link`;
    symlinkSync(target, link);
    ensure(link);
    lchownSync(link, NOBODY, NOBODY);
    assert.throws(() => ensure(link), {
      code: 'permission',
      message: new RegExp(`^${link} is a link of user ${NOBODY}, `),
    });
    lchownSync(link, 0, 0);
    chownSync(target, NOBODY, NOBODY);
    asNobody(() => ensure(link)); // an administrator's link to a folder on a larger disk
  }
});

test('a private file is created empty, and an existing one keeps its content', (t) => {
  const { home, state } = makeHome(t);
  const path = join(home, 'new');
  createPrivateFile(path);
  assert.deepEqual([modeOf(path), readFileSync(path, 'utf8')], [0o600, '']);
  createPrivateFile(state);
  assert.equal(readFileSync(state, 'utf8'), '{}');
  assert.throws(() => createPrivateFile(join(home, 'missing', 'file')), { code: 'ENOENT' });
});

test('a file that this process has locked stays locked when it is created again', (t) => {
  const path = join(makeHome(t).home, 'database');
  createPrivateFile(path);
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  database.exec('BEGIN EXCLUSIVE');
  createPrivateFile(path);
  const program = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('BEGIN EXCLUSIVE')`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', program, path], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /database is locked/);
});
