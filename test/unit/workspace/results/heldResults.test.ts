import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { discardStaged, type StagedArchive, stageArchive } from '../../../../src/workspace/extract/extract.ts';
import {
  applyResults,
  planResults,
  type ResultDecision,
  riskOf,
} from '../../../../src/workspace/results/applyResults.ts';
import { selectFiles } from '../../../../src/workspace/select/selection.ts';
import { tarEntry, tarGz, writeArchive } from '../archive/tarBuilder.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

interface Staged {
  readonly folder: string;
  readonly staged: StagedArchive;
  readonly apply: (decisions?: ReadonlyMap<string, ResultDecision>) => ReturnType<typeof applyResults>;
}

async function stage(t: TestContext, local: Record<string, string>, results: Record<string, string>): Promise<Staged> {
  const root = temporaryFolder(t);
  const folder = join(root, 'folder');
  mkdirSync(folder);
  writeTree(folder, local);
  const entries = Object.entries(results).map(([name, body]) => tarEntry({ name, body }));
  const staged = await stageArchive(writeArchive(join(root, 'a.tgz'), tarGz(...entries)), folder);
  const apply: Staged['apply'] = (decisions = new Map()) =>
    applyResults(staged, folder, decisions, { label: '7', journal: join(root, 'journal') });
  return { folder, staged, apply };
}

const words = (text: string): string[] => text.trim().split(/\s+/);

// Seen to be written with ordinary results once.
const HIDDEN =
  words(`.npmrc .mcp.json .cursor/mcp.json .claude/settings.json .github/workflows/x.yml .hg/hgrc .githooks/pre-commit
  .idea/workspace.xml .devcontainer.json .mise.toml .bashrc a/.hidden/b/c.txt a/.yarnrc.yml .NPMRC \uff0enpmrc .np\u200cmrc NPMRC~1`);
const TOOLS =
  words(`sitecustomize.py sub/conftest.py AGENTS.md CLAUDE.md package.json tsconfig.json tsconfig.build.json eslint.config.mjs
  sub/vite.config.ts Makefile CMakeLists.txt Cargo.toml build.rs Gemfile mise.toml app.csproj gulpfile.js desktop.ini icon.lnk
  node_modules/x/index.js jupyter_notebook_config.py pyproject.toml`);
// Names that the documentation of their tools has and this list once had not.
const ALSO_TOOLS = words(
  'pytest.toml Directory.Packages.props lefthook.yml lefthook-local.yaml lefthook.toml lefthook.jsonc WARP.md AGENTS.override.md CLAUDE.local.md pnpm-workspace.yaml',
);
const SELECTION = words('.gitignore sub/.farwharfignore .FARWHARFIGNORE');
const ORDINARY =
  words(`model.pth metrics.json out/loss.png train.py config.yaml sub/config.json data.v1.csv notes.md run.log weights~best.bin
  environment.yml requirements.txt settings.json a...b/c.txt`);

test('names that tools act on are held back in any spelling', () => {
  const risks = (paths: readonly string[]): unknown[] => [...new Set(paths.map((path) => riskOf(path)))];
  assert.deepEqual(risks(HIDDEN), ['hidden']);
  assert.deepEqual(risks([...TOOLS, ...ALSO_TOOLS]), ['tool']);
  assert.deepEqual(risks(SELECTION), ['selection']);
  assert.deepEqual(risks(['.git/config', '.env.local', '.vscode/tasks.json']), ['protected']);
  assert.deepEqual(risks(ORDINARY), [undefined]);
});

test('new or changed results that tools act on are never written with other results', async (t) => {
  const paths = [...new Set([...HIDDEN.slice(0, 13), ...TOOLS, ...SELECTION.slice(0, 2)])];
  const changed = { '.npmrc': 'mine', Makefile: 'mine', '.gitignore': 'mine' };
  const results = Object.fromEntries([...paths, ...ORDINARY].map((path) => [path, 'theirs']));
  const { folder, staged, apply } = await stage(t, changed, results);
  const planned = await planResults(staged, folder);
  const held = planned.filter(({ status }) => status === 'review');
  assert.deepEqual(held.map(({ path }) => path).sort(), paths.toSorted());
  assert.deepEqual(
    held
      .filter(({ review }) => review?.isNew === false)
      .map(({ path }) => path)
      .sort(),
    Object.keys(changed).sort(),
  );
  const { written } = await apply();
  assert.deepEqual(written.toSorted(), ORDINARY.toSorted());
  await discardStaged(staged);
  assert.deepEqual(
    paths.filter((path) => existsSync(join(folder, path))),
    Object.keys(changed).sort((a, b) => paths.indexOf(a) - paths.indexOf(b)),
  );
  for (const path of Object.keys(changed)) assert.equal(readFileSync(join(folder, path), 'utf8'), 'mine');
});

test('a result that was chosen by itself is written in its place', async (t) => {
  const { folder, staged, apply } = await stage(
    t,
    { '.gitignore': 'mine' },
    { '.gitignore': 'theirs', 'AGENTS.md': 'x' },
  );
  await planResults(staged, folder);
  assert.deepEqual((await apply(new Map([['.gitignore', 'write']]))).written, ['.gitignore']);
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), 'theirs');
});

test('a result cannot make the next submit send private files', async (t) => {
  const local = { '.farwharfignore': 'private/\n', 'private/key.txt': 'mine', 'train.py': '' };
  const results = { '.farwharfignore': '!private/**\n', 'sub/.farwharfignore': '!../private/**\n', 'out.txt': 'x' };
  const { folder, staged, apply } = await stage(t, local, results);
  const plan = await planResults(staged, folder);
  const aside = new Map(
    plan.filter(({ status }) => status === 'review').map(({ path }) => [path, 'set-aside'] as const),
  );
  const { setAside } = await apply(aside);
  assert.deepEqual(setAside, [
    { path: '.farwharfignore', at: '.farwharf-results/7/.farwharfignore' },
    { path: 'sub/.farwharfignore', at: '.farwharf-results/7/sub/.farwharfignore' },
  ]);
  await discardStaged(staged);
  const { files, excluded } = await selectFiles(folder, { isTrusted: false });
  assert.deepEqual(
    files.map(({ path }) => path),
    ['.farwharfignore', 'out.txt', 'train.py'],
  );
  assert.ok(excluded.some(({ path, rule }) => path === '.farwharf-results' && rule === '.farwharf-results'));
});

test('held-back results are never sent, even if an ignore file includes them', async (t) => {
  const folder = temporaryFolder(t);
  // One that is a secret by its name as well is not sent for that reason alone.
  writeTree(folder, { 'a.txt': '', '.farwharf-results/7/.npmrc': 'x', '.farwharf-results/7/AGENTS.md': 'x' });
  writeTree(folder, { '.farwharfignore': '!.farwharf-results/**\n' });
  git(folder, 'init');
  for (const isTrusted of [true, false]) {
    const { files } = await selectFiles(folder, { isTrusted });
    assert.deepEqual(
      files.map(({ path }) => path),
      ['.farwharfignore', 'a.txt'],
    );
  }
});

test('results that are set aside twice are there once, and another version is put beside', async (t) => {
  const local = { '.farwharf-results/7/AGENTS.md': 'same', '.farwharf-results/7/.npmrc': 'of another download' };
  const { folder, staged, apply } = await stage(t, local, { 'AGENTS.md': 'same', '.npmrc': 'theirs' });
  await planResults(staged, folder);
  await apply(
    new Map([
      ['AGENTS.md', 'set-aside'],
      ['.npmrc', 'set-aside'],
    ] as const),
  );
  assert.deepEqual(readdirSync(join(folder, '.farwharf-results/7')).sort(), ['.npmrc', '.npmrc (job 7)', 'AGENTS.md']);
});

test('nothing is written outside if a folder is replaced by a link while results are written', async (t) => {
  if (process.platform === 'win32') return t.skip('making a link needs a right on Windows');
  const results = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`out/${index}`, 'r']));
  const { folder, staged, apply } = await stage(t, { 'out/mine': '' }, results);
  const outside = temporaryFolder(t);
  await planResults(staged, folder);
  const state = { isSwapped: false, isOver: false };
  const writing = apply()
    .catch(() => undefined) // refused, or written into the folder that was moved away: both are right
    .finally(() => (state.isOver = true));
  while (!state.isSwapped && !state.isOver) {
    await nextTurn();
    if (readdirSync(join(folder, 'out')).length === 1) continue;
    renameSync(join(folder, 'out'), join(folder, '../moved'));
    symlinkSync(outside, join(folder, 'out'));
    state.isSwapped = true;
  }
  await writing;
  assert.ok(state.isSwapped, 'the results were written before the folder could be swapped');
  assert.deepEqual(readdirSync(outside), []);
});
