import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

const FOLDER = {
  'src/retry.ts': 'export function retryDelay(attempt: number): number {\n  return 2 ** attempt;\n}\n',
  'guide.md': '# Guide\n\nHow to wait between attempts.\n',
  'debug.log': 'retryDelay retryDelay',
  '.env': 'RETRY_TOKEN=1',
  'image.png': 'a\0b',
  '.gitignore': '*.log\n',
};

test('a folder is indexed once, then only what changed', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  const first = await scratch.run(['index', folder, '--json']);
  assert.equal(first.exit, 0, first.stderr);
  const [answer = {}] = jsonLines(first.stdout);
  assert.equal(answer['folder'], folder);
  assert.deepEqual([answer['files'], answer['added'], answer['removed']], [3, 4, 0]);
  assert.deepEqual(answer['passed_over'], { binary: 1 });
  await rm(join(folder, 'guide.md'));
  await writeFile(join(folder, 'more.md'), '# More\n');
  const second = await scratch.run(['index'], { cwd: folder });
  assert.equal(second.exit, 0, second.stderr);
  assert.match(second.stdout, /^3 files of .*project in \d chunks: 1 new, 0 changed, 1 gone, in /);
  assert.match(second.stderr, /skipped: 1 file \(binary\)/);
});

test('a search returns matches with their text, without ignored or secret files', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  const found = await scratch.run(['search', 'retry delay', '--folder', folder, '--top-k', '1', '--json']);
  assert.equal(found.exit, 0, found.stderr);
  const [{ hits } = { hits: [] }] = jsonLines(found.stdout) as { hits: Record<string, unknown>[] }[];
  assert.equal(hits.length, 1);
  const { score, ...place } = hits[0] ?? {};
  assert.ok(Number(score) > 0);
  assert.deepEqual(place, {
    path: 'src/retry.ts',
    start_line: 1,
    end_line: 3,
    symbol: 'retryDelay',
    symbols: ['retryDelay'],
    scope: [],
    text: FOLDER['src/retry.ts'].trimEnd(),
  });
  const all = await scratch.run(['search', 'retry'], { cwd: folder });
  assert.match(all.stdout, /^src\/retry\.ts:1 {2}retryDelay\n {4}export function retryDelay/);
  assert.doesNotMatch(all.stdout, /debug\.log|\.env|TOKEN/);
});

test('a result shows the line that matches best, with the words that match in bold where there are colours', async () => {
  await using scratch = await Scratch.create();
  const steps = Array.from({ length: 8 }, (_, at) => `  step(${at});\n`).join('');
  const folder = await scratch.folder('project', {
    'src/run.ts': `export function run(): void {\n${steps}\n  anchor();\n  unlink('wake');\n}\n`,
    'src/min.js': `${'a();'.repeat(60)}moor("\u001b]0;title\u0007anchor");${'b();'.repeat(60)}\n`,
  });
  const plain = await scratch.run(['search', 'anchor', '--folder', folder]);
  assert.match(
    plain.stdout,
    /src\/run\.ts:11 {2}run\n {4} {2}step\(7\);\n {4} {2}anchor\(\);\n {4} {2}unlink\('wake'\);/,
  );
  assert.match(
    plain.stdout,
    /^src\/min\.js:1\n {4}….{30}anchor"\);(?:b\(\);)+/m,
    'of a long line, the part that matches',
  );
  const bold = await scratch.run(['search', 'deleted anchor', '--folder', folder], { env: { FORCE_COLOR: '1' } });
  assert.match(bold.stdout, /\n {4} {2}\u001b\[1manchor\u001b\[22m\(\);\n {4} {2}\u001b\[1munlink\u001b\[22m\(/);
  assert.doesNotMatch(bold.stdout, /\u001b\]|\u0007/);
});

test('past commits are evidence, which --explain shows and --no-history leaves out', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  const git = (...argv: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], { cwd: folder, encoding: 'utf8' });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'Wait longer after each attempt');
  const explained = await scratch.run(['search', 'wait attempt', '--explain'], { cwd: folder });
  assert.match(explained.stdout, /\d past commits/);
  const without = await scratch.run(['search', 'wait attempt', '--explain', '--no-history'], { cwd: folder });
  assert.match(without.stdout, /guide\.md/);
  assert.doesNotMatch(without.stdout, /past commits/);
});

test('a misspelt word is corrected, and the correction is shown', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  const json = await scratch.run(['search', 'retryDealy', '--folder', folder, '--json']);
  const [answer = {}] = jsonLines(json.stdout);
  assert.equal(answer['did_you_mean'], 'retryDelay', json.stderr);
  const text = await scratch.run(['search', 'retryDealy'], { cwd: folder });
  assert.match(text.stderr, /Did you mean: retryDelay/);
  assert.match(text.stdout, /^src\/retry\.ts:1/);
});

test('a search sees a file that was changed a moment ago', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  await scratch.run(['index', folder]);
  await writeFile(join(folder, 'guide.md'), '# Guide\n\nHow to herd zebras herewith.\n');
  const found = await scratch.run(['search', 'zebra', '--folder', folder]);
  assert.match(found.stdout, /^guide\.md:3 {2}Guide\n {4}# Guide\n/);
});

test('an index that comes with a folder is not read', async () => {
  await using scratch = await Scratch.create();
  const other = await scratch.folder('other', { 'poison.md': 'The quagga is here.\n' });
  const folder = await scratch.folder('project', FOLDER);
  await scratch.run(['index', other]);
  const [kept = ''] = await readdir(join(scratch.home, 'index'));
  for (const place of ['index', '.farwharf', '.farwharf/index', '.vscode']) {
    await cp(join(scratch.home, 'index', kept), join(folder, place), { recursive: true });
    await cp(join(scratch.home, 'index'), join(folder, place), { recursive: true });
  }
  const before = await readdir(folder, { recursive: true });
  const found = await scratch.run(['search', 'quagga', '--folder', folder, '--json']);
  assert.deepEqual(
    jsonLines(found.stdout).flatMap(({ path }) => path ?? []),
    [],
    found.stdout,
  );
  assert.match((await scratch.run(['search', 'retry', '--folder', folder])).stdout, /retryDelay/);
  assert.deepEqual(await readdir(folder, { recursive: true }), before, 'nothing was written into the folder');
});

test('a folder of which every file is left out says so, and why', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', { '.gitignore': '/*\n', 'a.py': 'harbor\n' });
  const { exit, stderr } = await scratch.run(['search', 'harbor', '--folder', folder]);
  assert.equal(exit, 0);
  assert.match(
    stderr,
    /nothing to search, because every file is left out, as in a submit:\n +left out: \.gitignore, a\.py \(ignored by git\)/,
  );
});

test('a folder without files says so, whether it is a repository or not', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', {});
  const said = 'There is nothing to search, because the folder has no files.';
  const search = async (): Promise<string> =>
    (await scratch.run(['search', 'harbor', '--folder', folder])).stderr.trim();
  assert.equal(await search(), said);
  execFileSync('git', ['init', '--quiet', folder]);
  assert.equal(await search(), said);
  const { exit, stderr } = await scratch.run(['submit', folder, '--script', 'a.py', '--dry-run']);
  assert.equal(exit, 2);
  assert.match(stderr, /Nothing to send in .*: the folder has no files\. Add the script/);
});

test('nothing found is no failure; a folder that is not there and a missing query are bad use', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FOLDER);
  const nothing = await scratch.run(['search', 'quagga', '--folder', folder]);
  assert.deepEqual([nothing.exit, nothing.stdout], [0, '']);
  assert.match(nothing.stderr, /No matches in 3 files\./);
  assert.equal((await scratch.run(['search', 'x', '--folder', join(folder, 'no')])).exit, 2);
  assert.equal((await scratch.run(['search'])).exit, 2);
  assert.equal((await scratch.run(['search', 'x', '--folder', folder, '--top-k', 'many'])).exit, 2);
});
