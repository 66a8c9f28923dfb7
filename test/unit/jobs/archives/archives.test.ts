import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { tempHome } from '../fixtures.ts';

test('the files of the last job of a folder are known, unless what names them is gone or damaged', async (t) => {
  const home = tempHome(t);
  const store = new ArchiveStore(home);
  assert.equal(await store.latestOf('/home/ada/model'), undefined);
  await store.prepare();
  await store.setLatest('/home/ada/model', 'job-1');
  await store.setLatest('/home/ada/model', 'job-2');
  assert.deepEqual(await store.latestOf('/home/ada/model'), await store.packedFiles('job-2'));
  assert.equal(await store.latestOf('/home/ada'), undefined);
  const [name = ''] = readdirSync(join(home, 'archives'));
  const note = join(home, 'archives', name);
  for (const damage of ['', '../../etc/passwd', 'job-2\n']) {
    writeFileSync(note, damage);
    assert.equal(await store.latestOf('/home/ada/model'), undefined, damage);
  }
  rmSync(note);
  mkdirSync(note);
  await assert.rejects(store.latestOf('/home/ada/model'), { code: 'EISDIR' });
});
