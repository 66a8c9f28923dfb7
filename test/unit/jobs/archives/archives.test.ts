import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
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

test('the oldest archives above a limit go with their segments, those in use and the manifests stay', async (t) => {
  const store = new ArchiveStore(tempHome(t));
  await store.prepare();
  const ids = Array.from({ length: 4 }, () => randomUUID());
  for (const [index, id] of ids.entries()) {
    writeFileSync(store.archivePath(id), 'x'.repeat(100));
    utimesSync(store.archivePath(id), index + 1, index + 1);
    writeFileSync(store.manifestPath(id), '[]');
    if (index !== 1) writeFileSync(store.segmentsPath(id), '[]');
  }
  await store.prune(new Set(ids.slice(0, 1)), 200);
  const left = (pathOf: (id: string) => string): boolean[] => ids.map((id) => existsSync(pathOf(id)));
  assert.deepEqual(
    left((id) => store.archivePath(id)),
    [true, false, true, true],
  );
  assert.deepEqual(
    left((id) => store.segmentsPath(id)),
    [true, false, true, true],
  );
  assert.deepEqual(
    left((id) => store.manifestPath(id)),
    [true, true, true, true],
  );
  await store.prune(new Set(), 199);
  assert.deepEqual(
    left((id) => store.archivePath(id)),
    [false, false, false, true],
  );
  assert.deepEqual(
    left((id) => store.segmentsPath(id)),
    [false, false, false, true],
  );
});
