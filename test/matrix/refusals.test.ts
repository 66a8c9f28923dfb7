// The installed npm package where it cannot write its data.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { Finished, Scratch } from '../service/commandLine.ts';
import { jsonLines } from '../service/commandLine.ts';
import { installedScratch } from './support/given.ts';

const STACK = /^ +at |node:internal|^\s*\^/m;
const PROJECT = { 'a.sh': 'echo made > made.txt\n', 'guide.md': '# How to herd zebras\n' };

function folderOf(variable: string): string {
  const folder = process.env[variable];
  if (folder === undefined) throw new Error(`${variable} is not set. Run this test with: npm run test:matrix`);
  return folder;
}

function fill(folder: string, name: string): { free(): void } {
  const filler = join(folder, name);
  for (const bytes of [1 << 16, 1]) {
    const piece = Buffer.alloc(bytes);
    assert.throws(() => {
      for (;;) appendFileSync(filler, piece);
    }, /ENOSPC/);
  }
  return { free: () => rmSync(filler) };
}

/** One sentence for a person that says what is wrong, instead of source text or a stack. */
function assertRefusal({ exit, stdout, stderr }: Finished, reason: RegExp): void {
  assert.notEqual(exit, 0, stdout + stderr);
  const complaints = stderr.split('\n').filter((line) => line.startsWith('farwharf: '));
  assert.equal(complaints.length, 1, stderr);
  assert.match(complaints[0] ?? '', reason);
  assert.doesNotMatch(stderr, STACK);
}

const submit = (scratch: Scratch, folder: string, env: Readonly<Record<string, string>>): Promise<Finished> =>
  scratch.run(['submit', folder, '--script', 'a.sh', '--watch', '--download'], { env });

suite('the installed package where it cannot write', () => {
  test('main job: a full disk under FARWHARF_HOME is reported, and no job or file is lost', async () => {
    await using scratch = await installedScratch();
    const disk = folderOf('FARWHARF_MATRIX_FULL');
    const env = { FARWHARF_HOME: join(disk, 'home') };
    const folder = await scratch.folder('project', PROJECT);
    const first = await submit(scratch, folder, env);
    assert.equal(first.exit, 0, first.stderr);
    rmSync(join(folder, 'made.txt'));
    const filled = fill(disk, 'filler of the job');
    assertRefusal(await submit(scratch, folder, env), /disk .*full/);
    await scratch.stopEmbedded(env.FARWHARF_HOME);
    assertRefusal(await submit(scratch, folder, env), /disk .*full/);
    assert.deepEqual(readdirSync(folder).sort(), Object.keys(PROJECT).sort());
    for (const [name, text] of Object.entries(PROJECT)) assert.equal(readFileSync(join(folder, name), 'utf8'), text);
    filled.free();
    const listed = await scratch.run(['jobs', '--json'], { env });
    const [{ jobs } = { jobs: [] }] = jsonLines(listed.stdout) as { jobs: { state: string }[] }[];
    assert.ok(
      jobs.some(({ state }) => state === 'succeeded'),
      listed.stdout,
    );
    const again = await submit(scratch, folder, env);
    assert.equal(again.exit, 0, again.stderr);
    assert.equal(readFileSync(join(folder, 'made.txt'), 'utf8'), 'made\n');
    await scratch.stopEmbedded(env.FARWHARF_HOME);
  });

  test('main job: a home folder that cannot be written is named', async () => {
    await using scratch = await installedScratch();
    const home = folderOf('FARWHARF_MATRIX_READ_ONLY');
    const folder = await scratch.folder('project', PROJECT);
    const refused = await submit(scratch, folder, { HOME: home, XDG_DATA_HOME: '', FARWHARF_HOME: '' });
    assertRefusal(refused, /read-only file system.* Make the folder writable/);
    assert.ok(refused.stderr.includes(home), refused.stderr);
    assert.deepEqual(readdirSync(folder).sort(), Object.keys(PROJECT).sort());
  });

  test('search: a folder is searched though its index cannot be kept, and that is said', async () => {
    await using scratch = await installedScratch();
    const full = folderOf('FARWHARF_MATRIX_FULL');
    const cwd = await scratch.folder('project', PROJECT);
    const filled = fill(full, 'filler of the search');
    const readOnly = folderOf('FARWHARF_MATRIX_READ_ONLY');
    for (const [home, reason] of [
      [join(full, 'search'), /disk .*full/],
      [join(readOnly, 'search'), /read-only file system/],
    ] as const) {
      const found = await scratch.run(['search', 'zebras'], { cwd, env: { FARWHARF_HOME: home } });
      assert.equal(found.exit, 0, found.stderr);
      assert.match(found.stdout, /^guide\.md:1/);
      assert.match(found.stderr, /^The search index cannot be stored/);
      assert.match(found.stderr, reason);
      assert.doesNotMatch(found.stderr, STACK);
    }
    filled.free();
  });
});
