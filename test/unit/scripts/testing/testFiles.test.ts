import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const MODULE = join(import.meta.dirname, '../../../../scripts/testing/report.ts');
const PASSES = `import { test } from 'node:test'; test('passes', () => {});`;
const FAILS = `import { test } from 'node:test'; test('fails', () => { console.log('evidence'); throw new Error('no'); });`;

interface Run {
  readonly code: unknown;
  readonly output: string;
}

/** Runs files with these texts in one process, and returns what is printed. */
async function runFiles(t: TestContext, texts: Readonly<Record<string, string>>, options: object = {}): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-test-files-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  const files = Object.keys(texts).filter((name) => name.endsWith('.test.mjs'));
  const run = { files: files.map((name) => join(folder, name)), concurrency: 1, filesPerProcess: 10, ...options };
  const script = join(folder, 'run.mjs');
  await writeFile(
    script,
    `import { reportTestFiles } from '${pathToFileURL(MODULE).href}';
     process.exitCode = await reportTestFiles(${JSON.stringify(run)});`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // the runner does nothing inside another one
  return new Promise((resolve) => {
    execFile(process.execPath, [script], { env, cwd: folder }, (error, stdout) => {
      resolve({ code: error?.code ?? 0, output: stdout });
    });
  });
}

test('a test that fails on its first run only fails the run, and is named by its own file', async (t) => {
  const failsAtFirst = `
    import { existsSync, writeFileSync } from 'node:fs';
    import { test } from 'node:test';
    test('fails at first', () => {
      const marker = import.meta.filename + '.ran';
      if (existsSync(marker)) return;
      writeFileSync(marker, '');
      throw new Error('no');
    });`;
  const { code, output } = await runFiles(t, {
    'a.test.mjs': PASSES,
    'b.test.mjs': failsAtFirst,
    'c.test.mjs': PASSES,
  });
  assert.equal(code, 1, output);
  assert.match(output, /^ {2}ok {6}a\.test\.mjs: passes/m);
  assert.match(output, /^ {2}FAILED {2}b\.test\.mjs: fails at first\n.*no/m);
  assert.equal(output.trim().split('\n').at(-1), '2 passed, 1 failed');
});

test('what a process printed is shown only if one of its tests failed', async (t) => {
  assert.match((await runFiles(t, { 'a.test.mjs': FAILS })).output, /^ +evidence$/m);
  const quiet = FAILS.replace(`throw new Error('no');`, '');
  assert.doesNotMatch((await runFiles(t, { 'a.test.mjs': quiet })).output, /evidence/);
});

test('a file owns the tests that a function of another file declares', async (t) => {
  const { output } = await runFiles(t, {
    'declares.mjs': `import { test } from 'node:test';
      export const declare = () => { test('is fine', () => {}); test('is not', () => { throw new Error('no'); }); };`,
    'a.test.mjs': `import { suite } from 'node:test'; import { declare } from './declares.mjs'; suite('a suite', declare);`,
    'b.test.mjs': PASSES,
  });
  assert.match(output, /ok {6}a\.test\.mjs: a suite > is fine/);
  assert.match(output, /FAILED {2}a\.test\.mjs: a suite > is not/);
});

test('a file whose process ends early has failed, even with the exit code 0', async (t) => {
  for (const end of ['process.exit(0)', 'process.exit(3)', `process.kill(process.pid, 'SIGKILL')`]) {
    const ends = `import { test } from 'node:test'; test('starts', async () => { await 0; ${end}; }); test('never runs', () => {});`;
    const { code, output } = await runFiles(t, { 'a.test.mjs': PASSES, 'b.test.mjs': ends });
    assert.equal(code, 1, output);
    assert.match(output, /FAILED {2}b\.test\.mjs\n +The process ended before all tests of this file/, end);
  }
});

test('a file that cannot be imported has failed, and those beside it run', async (t) => {
  const { code, output } = await runFiles(t, { 'a.test.mjs': `throw new Error('broken');`, 'b.test.mjs': PASSES });
  assert.equal(code, 1, output);
  assert.match(output, /FAILED {2}a\.test\.mjs\n[^]*broken/);
  assert.match(output, /ok {6}b\.test\.mjs: passes/);
});

test('an error after the end of a test fails the run', async (t) => {
  const late = `import { test } from 'node:test';
    test('ends', () => { setTimeout(() => { throw new Error('too late'); }, 10); });`;
  const { code, output } = await runFiles(t, { 'a.test.mjs': late });
  assert.equal(code, 1, output);
  assert.match(output, /too late/);
});

test('tests are picked by their names, and a run without any has failed', async (t) => {
  const two = `import { suite, test } from 'node:test'; suite('s', () => { test('one', () => {}); test('two', () => {}); });`;
  const files = { 'a.test.mjs': two, 'b.test.mjs': PASSES };
  const picked = await runFiles(t, files, { grep: 'two' });
  assert.equal(picked.code, 0, picked.output);
  assert.equal(picked.output.trim().split('\n').at(-1), '1 passed, 0 failed');
  assert.equal((await runFiles(t, files, { grep: 'three' })).code, 1);
});
