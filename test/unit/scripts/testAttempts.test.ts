import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const MODULE = pathToFileURL(join(import.meta.dirname, '../../../scripts/testAttempts.ts')).href;
const PASSES = `import { test } from 'node:test'; test('passes', () => {});`;
const FAILS = `import { test } from 'node:test'; test('fails', () => { throw new Error('no'); });`;
const FAILS_AT_FIRST = `
  import { existsSync, writeFileSync } from 'node:fs';
  import { test } from 'node:test';
  test('fails at first', () => {
    const marker = import.meta.filename + '.ran';
    if (existsSync(marker)) return;
    writeFileSync(marker, '');
    throw new Error('no');
  });`;

/** Runs files with these texts, named `0.test.mjs` and so on, and returns the exit code and the output. */
async function runFiles(t: TestContext, texts: readonly string[]): Promise<{ code: unknown; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-attempts-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = texts.map((_, index) => join(folder, `${index}.test.mjs`));
  await Promise.all(files.map((path, index) => writeFile(path, texts[index] ?? '')));
  const script = `import { runTestsTwice } from ${JSON.stringify(MODULE)};
    process.exitCode = runTestsTwice({ files: ${JSON.stringify(files)}, concurrency: 2 });`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // the runner does nothing inside another one
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], { env, cwd: folder }, (error, stdout) => {
      resolve({ code: error?.code ?? 0, output: stripVTControlCharacters(stdout) });
    });
  });
}

test('a file that fails once passes in the end, and is named', async (t) => {
  const { code, output } = await runFiles(t, [PASSES, FAILS_AT_FIRST]);
  assert.equal(code, 0, output);
  assert.match(output, /^!!!! RETRIED: .*: 1\.test\.mjs$/m);
  assert.match(output, /^!!!! FLAKY: .*: 1\.test\.mjs$/m);
  assert.equal(output.match(/✔ passes/g)?.length, 1, 'what passed is not run again');
});

test('a file that fails twice has failed, and so has one that ends its process', async (t) => {
  for (const text of [FAILS, 'process.exit(3);']) {
    const { code, output } = await runFiles(t, [PASSES, FAILS_AT_FIRST, text]);
    assert.equal(code, 1, output);
    assert.match(output, /^!!!! RETRIED: /m);
    assert.doesNotMatch(output, /FLAKY/);
  }
});

test('a test that another file defines fails in the file that runs it', async (t) => {
  const shared = `import { test } from 'node:test'; export const define = () => test('fails', () => { throw new Error('no'); });`;
  const { code, output } = await runFiles(t, [shared, `import { define } from './0.test.mjs'; define();`]);
  assert.equal(code, 1, output);
  assert.match(output, /^!!!! RETRIED: .*: 1\.test\.mjs$/m);
});

test('many failures are not retried', async (t) => {
  const { code, output } = await runFiles(
    t,
    Array.from({ length: 11 }, () => FAILS_AT_FIRST),
  );
  assert.equal(code, 1, output);
  assert.doesNotMatch(output, /RETRIED/);
});
