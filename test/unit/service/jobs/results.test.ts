import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { ResultPieces } from '../../../../src/service/contents/resultPieces.ts';
import { collectResults } from '../../../../src/service/jobs/jobResults.ts';
import { jobFolder } from '../../../../src/service/jobFiles/jobFolder.ts';

const SECRET = 'a secret of the machine that serves';
// Every moment of a collection that takes fewer turns than that has its swap.
const TURNS = 120;
// A swap after a collection tests nothing. One that was quicker than the others does not end the test.
const LATE_SWAPS = 5;

function writeFiles(folder: string, text: string): void {
  for (const path of ['made.txt', 'inner/made.txt', 'inner/deep/made.txt']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

test('the pieces of results are known once they are packed, and are those of which the archive consists', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-results-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = jobFolder(root);
  mkdirSync(folder.workspace);
  writeFileSync(folder.manifest, '[]');
  for (const [index, size] of [3_000_000, 0, 700, 90_000].entries())
    writeFileSync(join(folder.workspace, `file${index}`), randomBytes(size));
  const { records } = await collectResults(folder, { maxBytes: 1e9 }, new AbortController().signal);
  const archive = await open(folder.results);
  assert.deepEqual(records, await new ResultPieces().records('job', archive));
  await archive.close();
  const pieces = new ResultPieces();
  pieces.note('job', records);
  assert.deepEqual(await pieces.records('job', archive), records, 'the archive, which is closed, is not read');
});

for (const [swapped, what] of [
  ['.', 'the whole folder of a job'],
  ['workspace', 'the folder of a script'],
  ['workspace/inner', 'a folder of the results'],
] as const) {
  test(`a link that takes the place of ${what} while results are packed leads nowhere`, async (t) => {
    if (process.platform !== 'linux') return t.skip('handles of folders are Linux’s');
    const root = mkdtempSync(join(tmpdir(), 'farwharf-results-'));
    t.after(() => rmSync(root, { recursive: true }));
    const outside = join(root, 'outside');
    writeFiles(join(outside, 'workspace'), SECRET);
    writeFileSync(join(outside, 'manifest.json'), '[]');
    let late = 0;
    for (let turns = 0; turns < TURNS && late < LATE_SWAPS; turns += 1) {
      const folder = jobFolder(join(root, `job${turns}`));
      writeFiles(folder.workspace, 'made by the job');
      writeFileSync(folder.manifest, '[]');
      let isOver = false;
      const collecting = collectResults(folder, { maxBytes: 1e9 }, new AbortController().signal)
        .catch(() => undefined)
        .finally(() => (isOver = true));
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      if (isOver) late += 1;
      const place = join(folder.path, swapped);
      renameSync(place, join(root, `away${turns}`));
      symlinkSync(join(outside, swapped), place);
      await collecting;
      for (const archive of [folder.results, join(root, `away${turns}`, 'results.tar.gz')]) {
        if (!existsSync(archive)) continue;
        assert.equal(gunzipSync(readFileSync(archive)).includes(SECRET), false, `after ${turns} turns`);
        rmSync(archive);
      }
    }
  });
}

for (const [what, makeEntries] of [
  ['files', (folder: string) => ['a', 'b', 'c'].forEach((name) => writeFileSync(join(folder, name), ''))],
  ['folders', (folder: string) => mkdirSync(join(folder, 'a/b/c'), { recursive: true })],
  ['links', (folder: string) => ['a', 'b', 'c'].forEach((name) => symlinkSync('nowhere', join(folder, name)))],
] as const) {
  test(`more ${what} than a job may leave are refused before they are read`, async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'farwharf-results-'));
    t.after(() => rmSync(root, { recursive: true }));
    const folder = jobFolder(root);
    mkdirSync(folder.workspace);
    writeFileSync(folder.manifest, '[]');
    makeEntries(folder.workspace);
    const collect = (maxEntries: number) =>
      collectResults(folder, { maxBytes: 1e9, maxEntries }, new AbortController().signal);
    await assert.rejects(collect(2), { code: 'limit', message: /more than 2 files, folders and links/ });
    assert.equal(existsSync(folder.results), false);
    await collect(3);
  });
}

test('what changes between the listing and the packing of results is left out and named, and all others are packed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-results-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = jobFolder(root);
  mkdirSync(join(folder.workspace, 'inner'), { recursive: true });
  writeFileSync(folder.manifest, '[]');
  for (const name of ['a', 'inner/b', 'link', 'removed', 'z']) writeFileSync(join(folder.workspace, name), name);
  const place = (name: string): string => join(folder.workspace, name);
  const change = (): void => {
    rmSync(place('removed'));
    rmSync(place('link'));
    symlinkSync('z', place('link'));
    renameSync(place('inner'), place('moved'));
  };
  // Each path is asked about when it is listed, `z` as the last.
  let asked = 0;
  const isSecret = (): boolean => {
    if ((asked += 1) === 5) change();
    return false;
  };
  const limits = { maxBytes: 1e9, isSecret };
  const { files, unreadable, leftOut, records } = await collectResults(folder, limits, new AbortController().signal);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['a', 'z'],
  );
  assert.deepEqual(unreadable, [
    { path: 'inner/b', why: 'changed' },
    { path: 'link', why: 'changed' },
    { path: 'removed', why: 'removed' },
  ]);
  assert.deepEqual([leftOut, records], [[], undefined]);
  assert.doesNotMatch(gunzipSync(readFileSync(folder.results)).toString('latin1'), /inner|link|removed/);
});

test('what vanishes while results are listed is left out and named, and all others are packed', async (t) => {
  if (process.platform !== 'linux')
    return t.skip('SKIPPED: what is listed before something vanishes depends on the system');
  const root = mkdtempSync(join(tmpdir(), 'farwharf-results-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = jobFolder(root);
  mkdirSync(folder.workspace);
  writeFileSync(folder.manifest, '[]');
  const names = Array.from({ length: 20 }, (_, index) => `file${index}`);
  for (const name of names) writeFileSync(join(folder.workspace, name), name);
  const left: string[] = [];
  const isSecret = (path: string): boolean => {
    left.push(path);
    if (left.length === 1) for (const name of names) if (name !== path) rmSync(join(folder.workspace, name));
    return false;
  };
  const { files, unreadable } = await collectResults(folder, { maxBytes: 1e9, isSecret }, new AbortController().signal);
  assert.deepEqual(
    files.map(({ path }) => path),
    left,
  );
  assert.deepEqual(
    new Set(unreadable.map(({ path, why }) => `${path} ${why}`)),
    new Set(names.filter((name) => name !== left[0]).map((name) => `${name} removed`)),
  );
});

test('the results of a job whose folder is removed while they are packed are not none', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-results-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = jobFolder(root);
  mkdirSync(folder.workspace);
  writeFileSync(folder.manifest, '[]');
  writeFileSync(join(folder.workspace, 'a'), 'a');
  const isSecret = (): boolean => {
    rmSync(folder.workspace, { recursive: true });
    return false;
  };
  await assert.rejects(collectResults(folder, { maxBytes: 1e9, isSecret }, new AbortController().signal));
});

test('the largest files are left out of results that are too large together, and all others are packed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-results-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = jobFolder(root);
  mkdirSync(folder.workspace);
  writeFileSync(folder.manifest, '[]');
  for (const [name, size] of [
    ['holes', 1e12],
    ['large', 700],
    ['middle', 600],
    ['small', 100],
  ] as const) {
    writeFileSync(join(folder.workspace, name), '');
    truncateSync(join(folder.workspace, name), size);
  }
  const { files, tooLarge } = await collectResults(folder, { maxBytes: 1_000 }, new AbortController().signal);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['middle', 'small'],
  );
  assert.deepEqual(tooLarge, [
    { path: 'holes', size: 1e12 },
    { path: 'large', size: 700 },
  ]);
  assert.match(gunzipSync(readFileSync(folder.results)).toString('latin1'), /small/);
});
