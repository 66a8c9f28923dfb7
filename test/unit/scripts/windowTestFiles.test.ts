import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import type { TestEvent } from '../../host/support/events.ts';

const RUNNER = join(import.meta.dirname, '../../../scripts/matrix/windowRunner.ts');

/** Runs a test file as the files that drive a window run, and returns the outcomes as `type title`. */
async function outcomes(path: string): Promise<string[]> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // the runner does nothing inside another one
  const { stdout } = await promisify(execFile)(process.execPath, [RUNNER, path], { env });
  const events = stdout.trim().split('\n');
  return events.map((line) => {
    const event = JSON.parse(line) as TestEvent;
    return 'title' in event ? `${event.type} ${event.title}` : event.type;
  });
}

suite('test files that drive a window', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'farwharf-window-files-'));
  });
  after(() => rm(folder, { recursive: true }));

  test('run once more if they fail, and then count', async () => {
    const path = join(folder, 'lostKey.test.mjs');
    const marker = JSON.stringify(join(folder, 'ran'));
    await writeFile(
      path,
      `import assert from 'node:assert';
       import { existsSync, writeFileSync } from 'node:fs';
       import { test } from 'node:test';
       test('fails at first', () => {
         const isSecond = existsSync(${marker});
         writeFileSync(${marker}, '');
         assert.ok(isSecond);
       });`,
    );
    assert.deepEqual(await outcomes(path), ['retry fails at first', 'pass fails at first']);
  });

  test('own the tests that a function of another file declares', async () => {
    const path = join(folder, 'shared.test.mjs');
    await writeFile(
      join(folder, 'declares.mjs'),
      `import { test } from 'node:test';
       export const declare = () => { test('is fine', () => {}); test('fails', () => { throw new Error('no'); }); };`,
    );
    await writeFile(
      path,
      `import { suite } from 'node:test';
       import { declare } from './declares.mjs';
       suite('a suite', declare);`,
    );
    const once = ['pass is fine', 'fail fails'];
    assert.deepEqual(await outcomes(path), [...once.map((line) => line.replace('fail ', 'retry ')), ...once]);
  });

  test('fail if they fail twice', async () => {
    const path = join(folder, 'broken.test.mjs');
    await writeFile(path, `import { test } from 'node:test';\ntest('fails', () => { throw new Error('no'); });`);
    assert.deepEqual(await outcomes(path), ['retry fails', 'fail fails']);
  });
});
