import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { recoverResults } from '../../../../src/workspace/results/resultRecovery.ts';
import { saveSteps, type ResultStep } from '../../../../src/workspace/results/resultSteps.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const STAGING = '.farwharf-staging-1';

interface Interrupted {
  readonly folder: string;
  readonly staged: (path: string) => string;
  readonly journal: string;
  readonly recover: () => ReturnType<typeof recoverResults>;
}

/** A folder as a process leaves it that was killed after it wrote these results as new files. */
function interrupted(t: TestContext, results: Record<string, string>): Interrupted {
  const root = temporaryFolder(t);
  const folder = join(root, 'folder');
  const staging = join(folder, STAGING, 'files');
  writeTree(staging, results);
  const begun = join(folder, STAGING, 'begun');
  writeFileSync(begun, ' ');
  const staged = (path: string): string => join(staging, path);
  const { mtime } = lstatSync(begun);
  const steps = Object.keys(results).map((path): ResultStep => {
    linkSync(staged(path), join(folder, path));
    return { type: 'new', source: path, target: path };
  });
  for (const path of [begun, ...Object.keys(results).map(staged)]) utimesSync(path, mtime, mtime);
  const journal = join(root, 'journal');
  saveSteps(journal, { label: '7', steps });
  return { folder, staged, journal, recover: () => recoverResults(staging, journal) };
}

test('files that were written in the moment in which the writing began are removed', async (t) => {
  const { folder, recover } = interrupted(t, { 'a.txt': 'a', 'b.txt': 'b' });
  assert.deepEqual(await recover(), { files: 2, beside: [], failed: [] });
  assert.deepEqual(readdirSync(folder), []);
});

test('files that were edited, emptied or written anew since are kept', async (t) => {
  const { folder, recover } = interrupted(t, { edited: 'result', emptied: 'result', anew: 'result', untouched: 'r' });
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(folder, 'edited'), later, later); // in place, so the staged file is the edited one too
  for (const [name, content] of [
    ['emptied', ''],
    ['anew', 'result'],
  ] as const) {
    rmSync(join(folder, name));
    writeFileSync(join(folder, name), content);
  }
  assert.deepEqual(await recover(), { files: 1, beside: [], failed: [] });
  assert.deepEqual(readdirSync(folder).sort(), ['anew', 'edited', 'emptied']);
  assert.equal(readFileSync(join(folder, 'anew'), 'utf8'), 'result');
});

test('a journal that does not list steps is an error that names it', async (t) => {
  for (const content of [
    '',
    'null',
    '{"label":"7"}',
    '{"label":7,"steps":[]}',
    '{"label":"7","steps":[{"type":"new"}]}',
    '{"label":"7","steps":[{"type":"new","target":"a","source":""}]}',
    '{"label":"7","steps":[{"type":"other","target":"a","source":"a","mark":"m","backup":"1"}]}',
    '{"label":"7","steps":[{"type":"replace","target":"a","source":"a","mark":"m","backup":"../1"}]}',
  ]) {
    const { journal, folder, recover } = interrupted(t, { 'a.txt': 'a' });
    writeFileSync(journal, content);
    await assert.rejects(recover(), {
      code: 'corrupt',
      message: `${journal} cannot be read, so an interrupted download cannot be undone.`,
    });
    assert.deepEqual(readdirSync(folder).sort(), [STAGING, 'a.txt'], content);
  }
});

test('without a journal, or without the staging folder, nothing is undone and both go', async (t) => {
  for (const removed of ['journal', 'staging'] as const) {
    const { folder, journal, recover } = interrupted(t, { 'a.txt': 'a' });
    rmSync(removed === 'journal' ? journal : join(folder, STAGING), { recursive: true });
    assert.equal(await recover(), undefined);
    assert.deepEqual(readdirSync(folder), ['a.txt'], removed);
    assert.equal(existsSync(journal), false);
    assert.equal(await recover(), undefined);
  }
});

test('what cannot be undone is reported, and stays in the journal until it can be', async (t) => {
  const { folder, journal, recover } = interrupted(t, { 'a.txt': 'a' });
  const replaced = { type: 'replace', source: 'a.txt', target: 'gone/b.txt', mark: 'x', backup: '0' } as const;
  const inGone = { type: 'new', source: 'a.txt', target: 'gone/c.txt' } as const;
  const added = { type: 'new', source: 'a.txt', target: 'a.txt' } as const;
  saveSteps(journal, { label: '7', steps: [added, inGone, replaced] });
  writeTree(join(folder, STAGING), { 'replaced/0': 'mine' });
  const inTheWay = join(folder, `${STAGING}.part`);
  mkdirSync(inTheWay);
  const failed = async () => (await recover())?.failed.map(({ path }) => path);
  assert.deepEqual(await failed(), ['gone/b.txt', 'a.txt']);
  rmdirSync(inTheWay);
  assert.deepEqual(await failed(), ['gone/b.txt']);
  mkdirSync(join(folder, 'gone'));
  assert.deepEqual(await failed(), []);
  assert.equal(readFileSync(join(folder, 'gone/b.txt'), 'utf8'), 'mine');
  assert.deepEqual([readdirSync(folder), existsSync(journal)], [['gone'], false]);
});
