import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { describeRecovered, ResultJournals } from '../../../../src/jobs/results/resultJournals.ts';
import {
  canKill,
  type KillPoint,
  killPoints,
  leftOvers,
  makePlace,
  type Place,
  run,
  snapshot,
} from './killedDownloads.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

const NO_STRACE = 'strace is not installed: there is no way to stop at a step';
const PROGRAM = join(import.meta.dirname, 'downloadProcess.ts');
const CLI = join(import.meta.dirname, '../../../../src/cli/main.ts');

// The same in every place, and found by running a whole download under strace.
let lastPoint: KillPoint | undefined;

/** Kills a download when all is written but for the last step. */
function killAtTheEnd(t: TestContext, place: Place): void {
  lastPoint ??= findLastPoint(t);
  assert.equal(run(place, 'download', { kill: lastPoint }), 'SIGKILL');
}

function findLastPoint(t: TestContext): KillPoint {
  const points = killPoints(makePlace(temporaryFolder(t)));
  const last = points.findIndex(({ line = '' }) => line.includes('unlink(') && line.includes('.steps'));
  const kill = points[last - 1];
  assert.ok(kill);
  return kill;
}

test('the next command undoes an interrupted download and reports it', (t) => {
  if (!canKill()) return t.skip(NO_STRACE);
  const place = makePlace(temporaryFolder(t));
  const before = snapshot(place.folder);
  killAtTheEnd(t, place);
  assert.notEqual(snapshot(place.folder), before);
  const env = { ...process.env, FARWHARF_HOME: place.home };
  const jobs = (): string => spawnSync(process.execPath, [CLI, 'jobs'], { env, encoding: 'utf8' }).stderr;
  assert.match(jobs(), /stopped while it was writing results of train\.py into .*The folder is as it was before/);
  assert.equal(snapshot(place.folder), before);
  assert.deepEqual(leftOvers(place), []);
  assert.doesNotMatch(jobs(), /stopped while it was writing/);
});

test('files edited after a kill are kept, with their previous versions beside them', async (t) => {
  if (!canKill()) return t.skip(NO_STRACE);
  const place = makePlace(temporaryFolder(t));
  killAtTheEnd(t, place);
  const text = (path: string): string => readFileSync(join(place.folder, path), 'utf8');
  assert.deepEqual([text('changed/0/0'), text('made/0/0')], ['new 0', 'made 0']);
  writeFileSync(join(place.folder, 'changed/0/0'), 'edited');
  writeFileSync(join(place.folder, 'made/0/0'), 'edited');
  const recovered = await new ResultJournals(place.home).recover();
  assert.deepEqual(
    recovered.map(({ files, beside, problem }) => ({ isUndone: files > 0, beside, problem })),
    [{ isUndone: true, beside: ['changed/0/0 (before job job-1)'], problem: undefined }],
  );
  assert.deepEqual([text('changed/0/0'), text('changed/0/0 (before job job-1)')], ['edited', 'old 0']);
  assert.deepEqual([text('made/0/0'), readdirSync(join(place.folder, 'made'))], ['edited', ['0']]);
  assert.match(recovered.map(describeRecovered).join(), /changed\/0\/0 \(before job job-1\)/);
  assert.deepEqual(leftOvers(place), []);
});

test('a running download is not undone, and two commands undo a killed one once', async (t) => {
  if (!canKill()) return t.skip(NO_STRACE);
  const place = makePlace(temporaryFolder(t));
  const before = snapshot(place.folder);
  const running = new ResultJournals(place.home).begin(place.folder, 'train.py');
  mkdirSync(join(place.folder, running.stagingName, 'files'), { recursive: true });
  killAtTheEnd(t, place);
  const exits = ['recover', 'recover'].map((task) =>
    once(spawn(process.execPath, [PROGRAM, task, place.home], { stdio: 'inherit' }), 'exit'),
  );
  assert.deepEqual(await Promise.all(exits), [
    [0, null],
    [0, null],
  ]);
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => name.startsWith('.')),
    [running.stagingName],
  );
  assert.equal(snapshot(place.folder), before);
  running.end();
});

test('two downloads into one folder at once leave whole files and nothing else', async (t) => {
  const place = makePlace(temporaryFolder(t));
  const argv = [PROGRAM, 'download', place.home, place.id, place.archive];
  const downloads = [1, 2].map(() => spawn(process.execPath, argv, { stdio: 'ignore' }));
  const exits = await Promise.all(downloads.map(async (download) => (await once(download, 'exit'))[0] as number));
  assert.ok(exits.includes(0), `one of them writes its results: ${exits.join()}`);
  const found = snapshot(place.folder).split('\n');
  for (const line of place.expected.split('\n')) {
    if (!line.startsWith('changed/') || !line.includes('=old')) assert.ok(found.includes(line), line);
  }
  assert.deepEqual(leftOvers(place), []);
});

test('a read-only disk is said, and what it kept from being taken back is taken back later, on a full disk too', async (t) => {
  if (!canKill()) return t.skip(NO_STRACE);
  const root = temporaryFolder(t);
  mkdirSync(join(root, 'folder'));
  const folder = join(root, 'folder');
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status !== 0)
    return t.skip('no right to mount a small disk here');
  try {
    const place = makePlace(root);
    const before = snapshot(folder);
    killAtTheEnd(t, place);
    const killed = snapshot(folder);
    spawnSync('mount', ['-o', 'remount,ro', folder]);
    const [first] = await new ResultJournals(place.home).recover();
    assert.match(first === undefined ? '' : describeRecovered(first), /Not everything could be undone/);
    assert.equal(snapshot(folder), killed);
    spawnSync('mount', ['-o', 'remount,rw', folder]);
    spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'full')}`, 'bs=64k'], { stdio: 'ignore' });
    assert.throws(() => writeFileSync(join(folder, 'more'), Buffer.alloc(65_536)), { code: 'ENOSPC' });
    spawnSync('rm', [join(folder, 'more')]);
    const [second] = await new ResultJournals(place.home).recover();
    assert.equal(second?.problem, undefined);
    spawnSync('rm', [join(folder, 'full')]);
    assert.equal(snapshot(folder), before);
    assert.deepEqual(leftOvers(place), []);
  } finally {
    spawnSync('umount', [folder]);
  }
});
