import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  isMadeOf,
  keepCopy,
  linkOver,
  linkWithoutReplacing,
  moveOver,
} from '../../../../src/workspace/files/fileMoves.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const MEMORY = '/dev/shm';

interface Places {
  /** A file on another file system than `to`, where no hard link can lead. */
  readonly from: string;
  readonly to: string;
  readonly part: () => string;
  readonly names: () => string[];
}

/** Undefined, and the test skipped, if this machine has only one file system. */
function twoFileSystems(t: TestContext): Places | undefined {
  const folder = temporaryFolder(t);
  if (!existsSync(MEMORY) || lstatSync(MEMORY).dev === lstatSync(folder).dev) {
    t.skip('SKIPPED: this machine has no second file system to write to');
    return undefined;
  }
  const other = mkdtempSync(join(MEMORY, 'farwharf-moves-'));
  t.after(() => rmSync(other, { recursive: true }));
  const from = join(other, 'from');
  writeFileSync(from, 'result');
  const part = (): string => join(folder, 'part');
  return { from, to: join(folder, 'to'), part, names: () => readdirSync(folder) };
}

const text = (path: string): string => readFileSync(path, 'utf8');

test('a file from another file system is copied, but not over one that exists', (t) => {
  const places = twoFileSystems(t);
  if (places === undefined) return;
  const { from, to, part, names } = places;
  assert.equal(linkWithoutReplacing(from, to, part), true);
  assert.equal(text(to), 'result');
  writeFileSync(to, 'mine');
  assert.equal(linkWithoutReplacing(from, to, part), false);
  assert.equal(text(to), 'mine');
  assert.deepEqual(names(), ['to']);
});

test('a copy that fails leaves nothing behind, and says why', (t) => {
  const places = twoFileSystems(t);
  if (places === undefined) return;
  const { from, to, part, names } = places;
  writeFileSync(part(), 'of an earlier attempt');
  assert.throws(() => linkWithoutReplacing(from, to, part), { code: 'EEXIST' });
  assert.deepEqual(names(), []);
  assert.throws(() => linkWithoutReplacing(from, join(to, 'in/none'), part), { code: 'ENOENT' });
});

test('a file is replaced, kept and moved across file systems', (t) => {
  const places = twoFileSystems(t);
  if (places === undefined) return;
  const { from, to, part, names } = places;
  writeFileSync(to, 'mine');
  linkOver(from, to, part);
  assert.equal(text(to), 'result');
  keepCopy(from, `${to}.kept`, part);
  moveOver(from, `${to}.moved`, part);
  assert.deepEqual([text(`${to}.kept`), text(`${to}.moved`)], ['result', 'result']);
  assert.deepEqual(names().sort(), ['to', 'to.kept', 'to.moved']);
});

test('a file on another file system is made of the original if it is a copy, whole or just begun', (t) => {
  const places = twoFileSystems(t);
  if (places === undefined) return;
  const { from, to } = places;
  for (const [content, isMade] of [
    ['result', true],
    ['', true],
    ['RESULT', false],
    ['results', false],
  ] as const) {
    writeFileSync(to, content);
    assert.equal(isMadeOf(to, from), isMade, JSON.stringify(content));
  }
});

test('with hard links, only the same file is made of the original: an equal or an empty one is not', (t) => {
  const folder = temporaryFolder(t);
  const original = join(folder, 'original');
  writeTree(folder, { original: 'result', equal: 'result', empty: '' });
  linkSync(original, join(folder, 'linked'));
  assert.deepEqual(
    ['linked', 'equal', 'empty', 'none'].filter((name) => isMadeOf(join(folder, name), original)),
    ['linked'],
  );
  assert.deepEqual(readdirSync(folder).sort(), ['empty', 'equal', 'linked', 'original']);
});
