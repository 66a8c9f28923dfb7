import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { resultsFolderOf } from '../../../../src/jobs/results/resultsFolder.ts';
import { tempHome } from '../fixtures.ts';

test('results go into the folder that was sent, or into the one in it that the profile names', async (t) => {
  const folder = realpathSync(tempHome(t));
  assert.equal(await resultsFolderOf({ folder, resultsFolder: null }), folder);
  assert.equal(await resultsFolderOf({ folder, resultsFolder: 'out/a' }), join(folder, 'out', 'a'));
  const gone = join(folder, 'gone');
  assert.equal(await resultsFolderOf({ folder: gone, resultsFolder: 'out' }), join(gone, 'out'));
});

test('a folder for results that leads out of the one that was sent is refused', async (t) => {
  const [folder, outside] = [tempHome(t), tempHome(t)];
  mkdirSync(join(folder, 'a'));
  symlinkSync(outside, join(folder, 'a', 'link'));
  for (const resultsFolder of ['a/link', 'a/link/deeper', '../x', '..']) {
    await assert.rejects(resultsFolderOf({ folder, resultsFolder }), {
      code: 'refused',
      message: `The profile puts the results into ${resultsFolder}, which leads out of ${folder}, so nothing was written. Specify a folder with --into DIR.`,
    });
  }
});
