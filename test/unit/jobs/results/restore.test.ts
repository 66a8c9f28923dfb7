import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { directArchiver } from '../../../../src/jobs/archives/archiver.ts';
import { restoreFiles } from '../../../../src/jobs/results/restoreFiles.ts';
import { ResultJournals } from '../../../../src/jobs/results/resultJournals.ts';
import { writeTree } from '../../workspace/temporaryFolder.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

const FILES = { 'train.py': 'old', 'src/a.py': 'a', 'src/b.py': 'b', '.gitignore': '*.log\n', 'same.txt': 'same' };

function setUp(t: TestContext) {
  const [home, folder, source] = [tempHome(t), tempHome(t), tempHome(t)];
  const record = makeRecord({ folder, jobId: 'job-1' });
  writeTree(source, FILES);
  const archive = new ArchiveStore(home).archivePath(record.id);
  mkdirSync(dirname(archive), { recursive: true });
  execFileSync('tar', ['czf', archive, '-C', source, ...Object.keys(FILES)]);
  const deps = { archiver: directArchiver, journals: new ResultJournals(home), home };
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  return { deps, folder, record, read, archive };
}

test('one file or a folder is restored as it was submitted, and nothing else', async (t) => {
  const { deps, folder, record, read } = setUp(t);
  writeFileSync(join(folder, 'train.py'), 'mine');
  const restored = await restoreFiles(deps, record, { paths: ['src', 'train.py'], onConflict: 'keep-both' });
  assert.deepEqual(restored.written.toSorted(), ['src/a.py', 'src/b.py', 'train (job job-1).py']);
  assert.deepEqual([read('train.py'), read('train (job job-1).py'), read('src/a.py')], ['mine', 'old', 'a']);
  assert.equal(existsSync(join(folder, '.gitignore')), false);
  const none = restoreFiles(deps, record, { paths: ['none.py'], onConflict: 'skip' });
  await assert.rejects(none, { code: 'missing', message: /submitted without none\.py/ });
});

test('everything is restored, with files that a download would set aside, unless they would be replaced', async (t) => {
  const { deps, folder, record, read } = setUp(t);
  writeTree(folder, { 'train.py': 'mine', 'same.txt': 'same' });
  const all = { paths: [], onConflict: 'overwrite' } as const;
  const { written, skipped } = await restoreFiles(deps, record, all);
  assert.deepEqual(written.toSorted(), ['.gitignore', 'src/a.py', 'src/b.py', 'train.py']);
  assert.deepEqual([skipped, read('train.py'), read('.gitignore')], [['same.txt'], 'old', '*.log\n']);
  writeFileSync(join(folder, '.gitignore'), 'mine');
  await restoreFiles(deps, record, all);
  assert.equal(read('.gitignore'), 'mine');
});

test('over a local file, one that tools read is set aside, and one that they act on at once is left out', async (t) => {
  const { deps, folder, record, read, archive } = setUp(t);
  const source = tempHome(t);
  writeTree(source, { '.gitignore': 'old', '.env': 'old' });
  execFileSync('tar', ['czf', archive, '-C', source, '.gitignore', '.env']);
  writeTree(folder, { '.gitignore': 'mine', '.env': 'mine' });
  const { written, skipped, setAside } = await restoreFiles(deps, record, { paths: [], onConflict: 'overwrite' });
  assert.deepEqual([written, skipped, setAside.map(({ path }) => path)], [[], ['.env'], ['.gitignore']]);
  assert.deepEqual([read('.gitignore'), read('.env')], ['mine', 'mine']);
});

test('files that are no longer stored cannot be restored, and the folder stays as it was', async (t) => {
  const { deps, folder, archive, record } = setUp(t);
  writeFileSync(archive, 'damaged');
  await assert.rejects(restoreFiles(deps, record, { paths: [], onConflict: 'skip' }), { code: 'corrupt' });
  execFileSync('rm', [archive]);
  await assert.rejects(restoreFiles(deps, record, { paths: [], onConflict: 'skip' }), { code: 'missing' });
  symlinkSync(archive, archive);
  await assert.rejects(restoreFiles(deps, record, { paths: [], onConflict: 'skip' }), { code: 'ELOOP' });
  assert.deepEqual(readdirSync(folder), []);
});
