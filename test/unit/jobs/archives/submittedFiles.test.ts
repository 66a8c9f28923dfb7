import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { SubmittedFiles } from '../../../../src/jobs/archives/submittedFiles.ts';
import { tempHome } from '../fixtures.ts';

type Files = Readonly<Record<string, string | Buffer>>;

/** A folder from which jobs are submitted, and the files that were submitted with them. */
class Place {
  readonly folder: string;
  readonly submitted: SubmittedFiles;
  readonly store: ArchiveStore;

  constructor(t: TestContext) {
    const home = tempHome(t);
    this.folder = tempHome(t);
    this.store = new ArchiveStore(home);
    this.submitted = new SubmittedFiles(home);
  }

  write(files: Files): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), content);
    }
  }

  /** Stores the files of a job as a submit does. Returns our ID of the job. */
  async submit(include: readonly string[] = []): Promise<string> {
    const id = randomUUID();
    const selections = new Selections();
    const { id: selection } = await selections.select(this.folder, { isTrusted: true, include });
    await this.store.prepare();
    await selections.pack(selection, this.store.archivePath(id), {
      manifest: this.store.manifestPath(id),
      segments: this.store.segmentsPath(id),
    });
    return id;
  }

  async changesSince(id: string): Promise<readonly string[]> {
    const changes = await this.submitted.changesSince(id, this.folder, { isTrusted: true });
    return changes.map(({ path, type }) => `${type} ${path}`);
  }
}

test('files that changed, were added or deleted since a job was submitted are found by their contents', async (t) => {
  const place = new Place(t);
  place.write({ 'train.py': 'one', 'data/a.csv': 'a', 'data/b.csv': 'b', 'same.txt': 'same', 'resized.txt': 'short' });
  const id = await place.submit();
  assert.deepEqual(await place.changesSince(id), []);
  place.write({ 'train.py': 'two', 'data/c.csv': 'c', 'same.txt': 'same', 'resized.txt': 'longer' });
  rmSync(join(place.folder, 'data/a.csv'));
  assert.deepEqual(await place.changesSince(id), [
    'deleted data/a.csv',
    'added data/c.csv',
    'changed resized.txt',
    'changed train.py',
  ]);
});

test('what the next submit leaves out is not added, and what the last one included is compared', async (t) => {
  const place = new Place(t);
  place.write({ 'train.py': 'one', '.farwharfignore': '*.bin\n', 'model.bin': 'weights' });
  const id = await place.submit(['model.bin']);
  assert.deepEqual(await place.changesSince(id), []);
  place.write({ 'model.bin': 'other..', 'second.bin': 'x', '.env': 'TOKEN=1' });
  assert.deepEqual(await place.changesSince(id), ['changed model.bin']);
});

test('a file that became a folder or a link has changed, and nothing is read through a link', async (t) => {
  const place = new Place(t);
  place.write({ 'a.txt': 'a', 'b.txt': 'b', 'sub/c.txt': 'c' });
  const id = await place.submit();
  rmSync(join(place.folder, 'a.txt'));
  mkdirSync(join(place.folder, 'a.txt'));
  renameSync(join(place.folder, 'b.txt'), join(place.folder, 'moved.txt'));
  symlinkSync('moved.txt', join(place.folder, 'b.txt'));
  assert.deepEqual(await place.changesSince(id), ['changed a.txt', 'changed b.txt', 'added moved.txt']);
});

test('a long comparison reports how many bytes it has compared, of all that were submitted', async (t) => {
  const place = new Place(t);
  place.write({ 'a.txt': 'four', 'b.txt': 'a longer one' });
  const id = await place.submit();
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 1_000));
  const progress: (readonly [number, number])[] = [];
  const onProgress = (done: number, total: number): void => void progress.push([done, total]);
  await place.submitted.changesSince(id, place.folder, { isTrusted: false, onProgress });
  assert.deepEqual(progress, [
    [0, 16],
    [4, 16],
  ]);
});

test('the files of two jobs are compared without the folder', async (t) => {
  const place = new Place(t);
  place.write({ 'train.py': 'one', 'old.txt': 'old', 'same.txt': 'same' });
  const before = await place.submit();
  place.write({ 'train.py': 'two', 'new.txt': 'new' });
  rmSync(join(place.folder, 'old.txt'));
  const after = await place.submit();
  rmSync(place.folder, { recursive: true });
  const expected = [
    { path: 'new.txt', type: 'added' },
    { path: 'old.txt', type: 'deleted' },
    { path: 'train.py', type: 'changed' },
  ];
  assert.deepEqual(await place.submitted.changesBetween(before, after), expected);
  assert.deepEqual(await place.submitted.changesBetween(after, after), []);
  await assert.rejects(place.changesSince(before), { code: 'missing' });
});

test('files are read as they were submitted, also after the folder changed', async (t) => {
  const place = new Place(t);
  place.write({ 'sub/train.py': 'one', 'binary.dat': Buffer.from([0, 255, 0]), 'large.txt': 'x'.repeat(5_000_001) });
  const id = await place.submit();
  rmSync(place.folder, { recursive: true });
  const found = await place.submitted.read(id, ['sub/train.py', 'binary.dat', 'large.txt', 'missing.txt']);
  assert.deepEqual(
    Object.fromEntries([...found].map(([path, content]) => [path, [...content]])),
    { 'sub/train.py': [...Buffer.from('one')], 'binary.dat': [0, 255, 0] },
    'a file over 5 MB and one that was not submitted are missing',
  );
  const names = async (folder: string): Promise<readonly string[]> =>
    (await place.submitted.children(id, folder)).map(({ name, isFolder }) => (isFolder ? `${name}/` : name));
  assert.deepEqual(await names(''), ['binary.dat', 'large.txt', 'sub/']);
  assert.deepEqual(await names('sub'), ['train.py']);
  assert.deepEqual(await names('su'), []);
});

test('a job whose files are no longer stored says so', async (t) => {
  const place = new Place(t);
  place.write({ 'train.py': 'one' });
  const id = await place.submit();
  rmSync(place.store.archivePath(id));
  const gone = { code: 'missing', message: /no longer stored on this machine/ };
  await assert.rejects(place.submitted.read(id, ['train.py']), gone);
  assert.deepEqual(await place.changesSince(id), [], 'the list of files is enough to compare them');
  rmSync(place.store.manifestPath(id));
  await assert.rejects(place.changesSince(id), gone);
});

test('a comparison stops when it is aborted', async (t) => {
  const place = new Place(t);
  place.write({ 'train.py': 'one' });
  const id = await place.submit();
  const signal = AbortSignal.abort();
  const comparing = place.submitted.changesSince(id, place.folder, { isTrusted: true, signal });
  await assert.rejects(comparing, { name: 'AbortError' });
});
