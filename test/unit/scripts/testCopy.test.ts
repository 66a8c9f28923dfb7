import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { canConfine } from '../../../scripts/mutations/confinement.ts';
import { TestCopy } from '../../../scripts/mutations/testCopy.ts';

const RUNNER = 'scripts/mutations/runTests.ts';
const ORIGINAL = 'export const isChanged = false;\n';
const SOURCE = { path: 'src/a.ts', original: ORIGINAL, changed: 'export const isChanged = true;\n', start: 23 };
const READS_SHARED = `import { readFileSync } from 'node:fs';
import { test } from 'node:test';
test('the shared file is whole', () => { if (readFileSync('shared.txt', 'utf8') !== 'whole') throw new Error('damaged'); });
`;

/** A checkout with these files beside what every copy needs. */
async function checkout(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'farwharf-copied-'));
  t.after(async () => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, 'scripts/mutations'), { recursive: true });
  await cp(join(import.meta.dirname, '../../..', RUNNER), join(root, RUNNER));
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

for (const [damage, statement] of [
  ['writes as many bytes to another file', "writeFileSync('shared.txt', 'ruins')"],
  ['removes the folder of the sources', "rmSync('src', { recursive: true })"],
] as const) {
  test(`a test that ${damage} does not decide about the next mutant`, async (t) => {
    const root = await checkout(t, {
      [SOURCE.path]: ORIGINAL,
      'shared.txt': 'whole',
      'test/shared.test.ts': READS_SHARED,
      'test/a.test.ts': `import { rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { isChanged } from '../src/a.ts';
test('a', () => { if (isChanged) ${statement}; });
`,
    });
    const copy = await TestCopy.create(root);
    t.after(async () => copy.dispose());

    assert.equal(await copy.isNoticed(['test/shared.test.ts'], { ...SOURCE, changed: '(' }), false);
    assert.equal(await copy.isNoticed(['test/a.test.ts'], { ...SOURCE, changed: '(' }), true);
    assert.equal(await copy.isNoticed(['test/a.test.ts', 'test/shared.test.ts'], SOURCE), false);
    assert.equal(await readFile(join(copy.folder, 'shared.txt'), 'utf8'), 'whole');
    assert.equal(await readFile(join(copy.folder, SOURCE.path), 'utf8'), ORIGINAL);
  });
}

test('only test files that execute a place are run for a change there, in this process, a thread or a process', async (t) => {
  const source = `export function called(): number {
  return 1;
}

export function never(isAsked: boolean): number {
  return isAsked ? 2 : 3;
}
`;
  const root = await checkout(t, {
    'src/b.ts': source,
    'test/direct.test.ts': `import { test } from 'node:test';
import { called } from '../src/b.ts';
test('direct', () => { called(); });
`,
    'test/thread.test.ts': `import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
test('thread', async () => {
  const code = "import('" + new URL('../src/b.ts', import.meta.url) + "').then(({ called }) => called())";
  await once(new Worker(code, { eval: true }), 'exit');
});
`,
    'test/imports.test.ts': "import '../src/b.ts';\n",
    'test/other.test.ts': `import { test } from 'node:test';
import { never } from '../src/b.ts';
test('other', () => { never(false); });
`,
  });
  const copy = await TestCopy.create(root);
  t.after(async () => copy.dispose());
  const tests = ['direct', 'thread', 'imports', 'other'].map((name) => `test/${name}.test.ts`);
  const executing = (text: string, most = 4): Promise<string[]> =>
    copy.executing(tests, { path: 'src/b.ts', start: source.indexOf(text) }, most);

  assert.deepEqual(await executing('return 1'), ['test/direct.test.ts', 'test/thread.test.ts']);
  assert.deepEqual(await executing('return 1', 1), ['test/direct.test.ts']);
  assert.deepEqual(await executing('return isAsked'), ['test/other.test.ts']);
  assert.deepEqual(await executing('2 : 3'), []);
});

test('a test file that fails with unchanged sources is named once, and decides about no mutant', async (t) => {
  const root = await checkout(t, {
    [SOURCE.path]: ORIGINAL,
    'test/a.test.ts': `import { test } from 'node:test';
import { isChanged } from '../src/a.ts';
test('a', () => { throw new Error(String(isChanged)); });
`,
  });
  const named: string[] = [];
  const copy = await TestCopy.create(root, { onFailed: (test) => named.push(test) });
  t.after(async () => copy.dispose());
  assert.deepEqual(await copy.executing(['test/a.test.ts'], SOURCE, 1), []);
  assert.equal(await copy.isNoticed(['test/a.test.ts'], SOURCE), false);
  assert.deepEqual(named, ['test/a.test.ts']);
});

test('a change cannot reach the processes outside of its tests', {
  skip: !canConfine && 'NOT POSSIBLE HERE',
}, async (t) => {
  const root = await checkout(t, {
    [SOURCE.path]: ORIGINAL,
    'test/a.test.ts': `import { readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { isChanged } from '../src/a.ts';
test('a', () => {
  const seen = readdirSync('/proc').filter((name) => Number(name) > 0);
  if (isChanged) writeFileSync(process.env.TMPDIR + '/seen', JSON.stringify(seen));
});
`,
  });
  const copy = await TestCopy.create(root);
  t.after(async () => copy.dispose());
  assert.equal(await copy.isNoticed(['test/a.test.ts'], SOURCE), false);
  const seen = JSON.parse(await readFile(join(dirname(copy.folder), 'tmp/seen'), 'utf8')) as string[];
  assert.ok(seen.includes('1') && seen.length < 10, seen.join());
});

test('a test that root runs may start programs of other users', {
  skip: process.getuid?.() !== 0 && 'ONLY FOR ROOT',
}, async (t) => {
  const root = await checkout(t, {
    [SOURCE.path]: ORIGINAL,
    'test/a.test.ts': `import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { isChanged } from '../src/a.ts';
test('a', () => {
  const folders = ['TMPDIR', 'NODE_V8_COVERAGE'].flatMap((name) => process.env[name] ?? []);
  if (isChanged) folders.push('/');
  for (const folder of folders) execFileSync('test', ['-w', folder], { uid: 65_534, gid: 65_534 });
});
`,
  });
  const copy = await TestCopy.create(root);
  t.after(async () => copy.dispose());
  assert.deepEqual(await copy.executing(['test/a.test.ts'], { path: SOURCE.path, start: 0 }, 1), ['test/a.test.ts']);
  assert.equal(await copy.isNoticed(['test/a.test.ts'], SOURCE), true);
});

test('an interrupt ends the test that runs, and nothing is left', async (t) => {
  const root = await checkout(t, {
    [SOURCE.path]: ORIGINAL,
    'test/endless.test.ts': `import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { isChanged } from '../src/a.ts';
test('endless', async () => {
  const disk = process.env.TMPDIR + '/disk';
  mkdirSync(disk, { recursive: true });
  spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]); // only root can
  writeFileSync(process.env.TMPDIR + '/begun', '');
  await new Promise((resolve) => isChanged ? setInterval(() => {}, 1000) : resolve());
});
`,
  });
  const interrupted = new AbortController();
  const copy = await TestCopy.create(root, { signal: interrupted.signal });
  t.after(async () => copy.dispose());
  const begun = join(dirname(copy.folder), 'tmp/begun');
  const running = copy.isNoticed(['test/endless.test.ts'], SOURCE);
  for (let times = 0; times < 2; ) {
    if (existsSync(begun)) {
      times += 1;
      rmSync(begun);
    }
    await sleep(20);
  }
  interrupted.abort();
  await assert.rejects(running, { name: 'AbortError' });
  await copy.dispose();
  assert.equal(existsSync(dirname(copy.folder)), false);
});
