import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { MACOS_NAMES } from '../../../../src/workspace/files/nameRules.ts';
import { type StagedArchive, stageArchive } from '../../../../src/workspace/extract/extract.ts';
import { Yielder } from '../../../../src/core/processes/yielder.ts';
import { ResultTransaction } from '../../../../src/workspace/results/resultTransaction.ts';
import { recoverResults } from '../../../../src/workspace/results/resultRecovery.ts';
import { isProtectedPath } from '../../../../src/workspace/results/protectedNames.ts';
import { saveSteps } from '../../../../src/workspace/results/resultSteps.ts';
import { applyResults, planResults, type ResultDecision } from '../../../../src/workspace/results/applyResults.ts';
import { tarEntry, tarGz, writeArchive } from '../archive/tarBuilder.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

async function stage(
  t: TestContext,
  local: Record<string, string>,
  results: Record<string, string>,
): Promise<{ folder: string; staged: StagedArchive }> {
  const root = temporaryFolder(t);
  const folder = join(root, 'folder');
  mkdirSync(folder);
  writeTree(folder, local);
  const entries = Object.entries(results).map(([name, body]) => tarEntry({ name, body }));
  return { folder, staged: await stageArchive(writeArchive(join(root, 'a.tgz'), tarGz(...entries)), folder) };
}

const journalOf = (folder: string): string => join(folder, '../journal');
const text = (...path: string[]): string => readFileSync(join(...path), 'utf8');
const decide = (...entries: [string, ResultDecision][]): Map<string, ResultDecision> => new Map(entries);
const manifestOf = (files: Record<string, string>) =>
  Object.entries(files).map(([path, body]) => ({ path, size: body.length, mode: 0o644, sha256: hash('sha256', body) }));
const ownFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('.farwharf-staging-'))
    .sort();

test('each result is compared with the folder and with what was submitted', async (t) => {
  const local = { same: 'result', changed: 'submitted', conflict: 'edited!!!', unknown: 'mine', '.env': 'mine' };
  const results = {
    new: 'n',
    same: 'result',
    changed: 'r',
    conflict: 'r',
    unknown: 'r',
    '.env': 'r',
    '.vscode/tasks.json': '{}',
    'folder/x': 'r',
  };
  const { folder, staged } = await stage(t, { ...local, folder: 'a file here' }, results);
  const submitted = { same: 'old', changed: 'submitted', conflict: 'submitted' };
  const planned = await planResults(staged, folder, { submitted: manifestOf(submitted) });
  assert.deepEqual(Object.fromEntries(planned.map(({ path, status }) => [path, status])), {
    new: 'new',
    same: 'same',
    changed: 'changed',
    conflict: 'conflict',
    unknown: 'conflict',
    '.env': 'protected',
    '.vscode/tasks.json': 'protected',
    'folder/x': 'conflict',
  });
});

test('without decisions only new results are written, and none that is protected', async (t) => {
  const { folder, staged } = await stage(
    t,
    { old: 'mine' },
    { old: 'theirs', 'a/new': 'n', '.git/hooks/pre-commit': 'x' },
  );
  await planResults(staged, folder);
  const applied = await applyResults(staged, folder, decide(), { label: '1', journal: journalOf(folder) });
  assert.deepEqual(applied, {
    written: ['a/new'],
    merged: [],
    skipped: ['old', '.git/hooks/pre-commit'],
    setAside: [],
    moved: [],
  });
  assert.equal(text(folder, 'old'), 'mine');
  assert.equal(text(folder, 'a/new'), 'n');
  assert.equal(existsSync(join(folder, '.git')), false);
});

test('a decision for each path is carried out, protected ones too', async (t) => {
  const local = {
    over: 'mine',
    both: 'mine',
    'plots/loss.png': 'mine',
    'plots/loss (job 7).png': 'mine',
    skip: 'mine',
  };
  const results = { over: 'r', both: 'r', 'plots/loss.png': 'r', skip: 'r', '.env': 'r' };
  const { folder, staged } = await stage(t, local, results);
  await planResults(staged, folder);
  const decisions = decide(
    ['over', 'write'],
    ['both', 'keep-both'],
    ['plots/loss.png', 'keep-both'],
    ['skip', 'skip'],
    ['.env', 'write'],
  );
  const { written } = await applyResults(staged, folder, decisions, { label: '7', journal: journalOf(folder) });
  assert.deepEqual(written, ['over', 'both (job 7)', 'plots/loss (job 7) 2.png', '.env']);
  assert.equal(text(folder, 'over'), 'r');
  assert.equal(text(folder, 'both'), 'mine');
  assert.equal(text(folder, 'plots/loss (job 7).png'), 'mine');
  assert.equal(text(folder, 'plots/loss (job 7) 2.png'), 'r');
  assert.equal(text(folder, 'skip'), 'mine');
});

test('a file that changed after the plan is not overwritten, and what was written before is taken back', async (t) => {
  const { folder, staged } = await stage(t, { a: 'mine', b: 'mine' }, { 'x/new': 'n', a: 'r', b: 'r' });
  await planResults(staged, folder);
  writeFileSync(join(folder, 'b'), 'edited since');
  const decisions = decide(['a', 'write'], ['b', 'write']);
  await assert.rejects(applyResults(staged, folder, decisions, { label: '1', journal: journalOf(folder) }), {
    code: 'conflict',
    message: /^b changed/,
  });
  assert.deepEqual(ownFiles(folder), ['a', 'b']);
  assert.equal(text(folder, 'a'), 'mine');
  assert.equal(text(folder, 'b'), 'edited since');

  await planResults(staged, folder);
  await applyResults(staged, folder, decisions, { label: '1', journal: journalOf(folder) });
  assert.deepEqual([text(folder, 'a'), text(folder, 'b'), text(folder, 'x/new')], ['r', 'r', 'n']);
});

test('a file that appeared after the plan is not overwritten', async (t) => {
  const { folder, staged } = await stage(t, {}, { first: '1', late: 'r' });
  await planResults(staged, folder);
  writeFileSync(join(folder, 'late'), 'mine');
  await assert.rejects(applyResults(staged, folder, decide(), { label: '1', journal: journalOf(folder) }), {
    code: 'conflict',
  });
  assert.deepEqual(ownFiles(folder), ['late']);
  assert.equal(text(folder, 'late'), 'mine');
});

test('nothing is written through a link in the folder, and a link itself is replaced, never followed', async (t) => {
  const { folder, staged } = await stage(t, {}, { 'out/x': 'r', target: 'r' });
  const outside = temporaryFolder(t);
  writeTree(outside, { file: 'outside' });
  symlinkSync(outside, join(folder, 'out'));
  symlinkSync(join(outside, 'file'), join(folder, 'target'));
  const planned = await planResults(staged, folder);
  assert.deepEqual(
    planned.map(({ status }) => status),
    ['conflict', 'conflict'],
  );
  await applyResults(staged, folder, decide(['out/x', 'write'], ['target', 'write']), {
    label: '1',
    journal: journalOf(folder),
  });
  assert.equal(text(folder, 'out/x'), 'r');
  assert.equal(readlinkSync(join(folder, 'out (before job 1)')), outside);
  assert.deepEqual(readdirSync(outside), ['file']);
  assert.equal(text(outside, 'file'), 'outside');
  assert.equal(text(folder, 'target'), 'r');
});

test('a result in place of a folder is skipped unless it was chosen, and then the folder gets another name', async (t) => {
  const { folder, staged } = await stage(t, { 'data/x': 'mine' }, { data: 'r', other: 'r' });
  const [planned] = await planResults(staged, folder);
  assert.deepEqual(planned, {
    path: 'data',
    size: 1,
    status: 'conflict',
    obstacle: { path: 'data', kind: 'folder' },
  });
  assert.deepEqual(await applyResults(staged, folder, decide(), { label: '1', journal: journalOf(folder) }), {
    written: ['other'],
    merged: [],
    skipped: ['data'],
    setAside: [],
    moved: [],
  });
  await planResults(staged, folder);
  const applied = await applyResults(staged, folder, decide(['data', 'write'], ['other', 'skip']), {
    label: '1',
    journal: journalOf(folder),
  });
  assert.deepEqual(applied, {
    written: ['data'],
    merged: [],
    skipped: ['other'],
    setAside: [],
    moved: [{ path: 'data', to: 'data (before job 1)' }],
  });
  assert.equal(text(folder, 'data'), 'r');
  assert.equal(text(folder, 'data (before job 1)/x'), 'mine');
});

const KINDS = { local: { out: 'mine', kept: 'mine' }, results: { 'out/x': '1', 'out/deep/y': '2', more: '3' } };

for (const [decision, expected] of [
  ['keep-both', { 'out (job 1)/x': '1', 'out (job 1)/deep/y': '2', more: '3', out: 'mine' }],
  ['write', { 'out/x': '1', 'out/deep/y': '2', more: '3', 'out (before job 1)': 'mine' }],
  ['skip', { more: '3', out: 'mine' }],
] as const) {
  test(`results in a folder whose name a local file has are a conflict like others: ${decision}`, async (t) => {
    const { folder, staged } = await stage(t, KINDS.local, KINDS.results);
    const planned = await planResults(staged, folder);
    assert.deepEqual(
      planned.map(({ path, status, obstacle }) => [path, status, obstacle]),
      [
        ['out/x', 'conflict', { path: 'out', kind: 'file' }],
        ['out/deep/y', 'conflict', { path: 'out', kind: 'file' }],
        ['more', 'new', undefined],
      ],
    );
    const decisions = decide(['out/x', decision], ['out/deep/y', decision]);
    await applyResults(staged, folder, new Map([...decisions, ['more', 'write']]), {
      label: '1',
      journal: journalOf(folder),
    });
    const files = Object.entries({ ...expected, kept: 'mine' });
    for (const [path, body] of files) assert.equal(text(folder, path), body, path);
    const found = readdirSync(folder, { recursive: true, withFileTypes: true });
    assert.equal(
      found.filter((entry) => entry.isFile() && !entry.parentPath.includes('.farwharf')).length,
      files.length,
    );
  });
}

test('a file that was moved aside is back after a failure, and after a process was killed', async (t) => {
  const { folder, staged } = await stage(t, { out: 'mine', late: 'mine' }, { 'out/x': '1', late: '2' });
  await planResults(staged, folder);
  writeFileSync(join(folder, 'late'), 'edited since');
  const decisions = decide(['out/x', 'write'], ['late', 'write']);
  const options = { label: '1', journal: journalOf(folder) };
  await assert.rejects(applyResults(staged, folder, decisions, options), { code: 'conflict', message: /^late / });
  assert.deepEqual([ownFiles(folder), text(folder, 'out')], [['late', 'out'], 'mine']);

  const inode = String(lstatSync(join(folder, 'out')).dev) + ':' + String(lstatSync(join(folder, 'out')).ino);
  saveSteps(journalOf(folder), {
    label: '1',
    steps: [
      { type: 'move', target: 'out', to: 'out (before job 1)', inode },
      { type: 'folder', target: 'out' },
      { type: 'new', source: 'out/x', target: 'out/x' },
    ],
  });
  renameSync(join(folder, 'out'), join(folder, 'out (before job 1)'));
  mkdirSync(join(folder, 'out'));
  assert.equal((await recoverResults(staged.staging, journalOf(folder)))?.files, 1);
  assert.deepEqual([ownFiles(folder), text(folder, 'out')], [['late', 'out'], 'mine']);
});

test('of two results with one name on this file system, each can be chosen', async (t) => {
  const root = temporaryFolder(t);
  const entries = ['File', 'file'].map((name) => tarEntry({ name, body: name }));
  const archive = writeArchive(join(root, 'a.tgz'), tarGz(...entries));
  for (const [decision, expected] of [
    ['keep-both', { File: 'File', 'file 2': 'file' }],
    ['write', { File: 'file' }],
    ['skip', { File: 'File' }],
  ] as const) {
    const folder = join(root, decision);
    const staged = await stageArchive(archive, folder, { rules: MACOS_NAMES });
    const planned = await planResults(staged, folder);
    assert.deepEqual(planned, [
      { path: 'File', size: 4, status: 'new' },
      { path: 'file 2', name: 'file', size: 4, status: 'conflict', twin: 'File' },
    ]);
    await applyResults(staged, folder, decide(['File', 'write'], ['file 2', decision]), {
      label: '1',
      journal: journalOf(folder),
    });
    assert.deepEqual(Object.fromEntries(ownFiles(folder).map((name) => [name, text(folder, name)])), expected);
  }
});

test('without a plan nothing is written', async (t) => {
  const { folder, staged } = await stage(t, {}, { a: 'r' });
  await assert.rejects(applyResults(staged, folder, decide(), { label: '1', journal: journalOf(folder) }), {
    code: 'missing',
  });
  assert.deepEqual(ownFiles(folder), []);
});

test('protected names are recognized in every spelling', () => {
  const spellings =
    `.git/config|.GIT/config|a/.Git/x|.git./x|.git ./x|.git::$INDEX_ALLOCATION/x|git~1/config|.g\u200cit/x|\uff0egit/x
|.gitmodules|.gitattributes|.vscode/tasks.json|.VSCode/x|.v\u017fcode/x|.devcontainer/x|.husky/x|.ssh/id|.env|.env.local|.ENV|.envrc
|team.code-workspace|a/b.CODE-WORKSPACE|node_modules/.bin/tsc`
      .replaceAll('\n', '')
      .split('|');
  assert.deepEqual(
    spellings.filter((path) => !isProtectedPath(path)),
    [],
  );
  const ordinary = [
    'git/config',
    '.github/workflows/x',
    '.gitignore',
    'env.txt',
    'code-workspace',
    'bin/x',
    'a.bin',
    'node_modules/x/y.js',
  ];
  assert.deepEqual(ordinary.filter(isProtectedPath), []);
});

test('what keeps results from being written is said with what to do', async (t) => {
  const { folder, staged } = await stage(t, { late: 'mine' }, { data: 'r', late: 'r' });
  const apply = async (path: string): Promise<string> => {
    const decided = applyResults(staged, folder, decide([path, 'write']), { label: '1', journal: journalOf(folder) });
    const error = await decided.catch((caught: unknown) => caught);
    return error instanceof Error ? error.message : 'written';
  };
  assert.equal(await apply('data'), 'The results were not compared with the folder yet, so nothing was written.');
  await planResults(staged, folder);
  writeFileSync(join(folder, 'late'), 'edited since');
  assert.equal(
    await apply('late'),
    'late changed after the results were compared, so nothing was written. Compare again.',
  );
});

test('a file that cannot be restored is named, and its original is restored once that is possible', async (t) => {
  const { folder, staged } = await stage(t, { a: 'mine' }, { a: 'r' });
  await planResults(staged, folder);
  const inTheWay = join(folder, `${basename(dirname(staged.staging))}.part`);
  mkdirSync(inTheWay);
  const [label, journal] = ['1', journalOf(folder)];
  await assert.rejects(applyResults(staged, folder, decide(['a', 'write']), { label, journal }), {
    code: 'corrupt',
    message:
      /\. These files could not be restored yet: a\. The originals are kept, and the next farwharf command tries again\.$/,
  });
  rmdirSync(inTheWay);
  assert.deepEqual((await recoverResults(staged.staging, journal))?.failed, []);
  assert.equal(text(folder, 'a'), 'mine');
  assert.deepEqual([readdirSync(folder), existsSync(journal)], [['a'], false]);
});

test('a folder that appears while results are written stays, as does a file', async (t) => {
  const { folder, staged } = await stage(t, {}, { 'data/x': 'r', late: 'r' });
  const begin = (): ResultTransaction => new ResultTransaction(folder, basename(dirname(staged.staging)), '1');
  for (const [path, appear] of [
    ['data/x', () => mkdirSync(join(folder, 'data'))],
    ['late', () => writeFileSync(join(folder, 'late'), '')],
  ] as const) {
    using transaction = begin();
    transaction.writeNew(path);
    appear();
    await assert.rejects(transaction.commit(journalOf(folder), new Yielder()));
  }
  assert.deepEqual([ownFiles(folder), existsSync(journalOf(folder))], [['data', 'late'], false]);
  assert.deepEqual(readdirSync(join(folder, 'data')), []);
});

test('the outputs of the notebook that ran are put into the local one, and into no other', async (t) => {
  const notebook = (source: string, outputs: readonly object[] = []) =>
    JSON.stringify({ nbformat: 4, cells: [{ id: 'a', cell_type: 'code', metadata: {}, source, outputs }] });
  const output = { output_type: 'stream', name: 'stdout', text: '1' };
  const local = { 'a.ipynb': notebook('edited'), 'b.ipynb': notebook('x'), '.c.ipynb': notebook('x') };
  const results = {
    'a.ipynb': notebook('x', [output]),
    'b.ipynb': notebook('x', [output]),
    '.c.ipynb': notebook('x', [output]),
  };
  const { folder, staged } = await stage(t, local, results);
  chmodSync(join(folder, 'a.ipynb'), 0o640);
  const hidden = await planResults(staged, folder, { notebook: '.c.ipynb' });
  assert.deepEqual(
    hidden.flatMap(({ merge }) => merge ?? []),
    [],
  );
  const plan = await planResults(staged, folder, { notebook: 'a.ipynb' });
  assert.deepEqual(
    plan.map(({ path, merge }) => [path, merge]),
    [
      ['a.ipynb', { olderOutputs: 1 }],
      ['b.ipynb', undefined],
      ['.c.ipynb', undefined],
    ],
  );
  const options = { label: '7', journal: journalOf(folder) };
  const applied = await applyResults(staged, folder, decide(['a.ipynb', 'merge']), options);
  assert.deepEqual([applied.written, applied.merged], [['a.ipynb'], ['a.ipynb']]);
  const merged = text(folder, 'a.ipynb');
  assert.match(merged, /"source":"edited"/);
  assert.match(merged, /"text":"1"/);
  assert.equal(lstatSync(join(folder, 'a.ipynb')).mode & 0o777, 0o640);
  assert.deepEqual(ownFiles(folder), ['.c.ipynb', 'a.ipynb', 'b.ipynb']);
  const [again] = (await planResults(staged, folder, { notebook: 'a.ipynb' })).filter(({ path }) => path === 'a.ipynb');
  assert.equal(again?.status, 'same', 'it has all outputs already');

  writeFileSync(join(folder, 'a.ipynb'), 'no notebook');
  await assert.rejects(applyResults(staged, folder, decide(['a.ipynb', 'merge']), options), { code: 'conflict' });
  assert.equal(text(folder, 'a.ipynb'), 'no notebook');
});
