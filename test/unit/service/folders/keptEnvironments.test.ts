import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  type BuiltRecord,
  environmentPaths,
  environmentsIn,
} from '../../../../src/service/folders/environmentFolder.ts';
import { KeptEnvironments } from '../../../../src/service/folders/keptEnvironments.ts';

function filesFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-environments-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Adds an environment as runners do. @returns its folder. */
function add(
  account: string,
  digit: string,
  { bytes, usedAt }: { readonly bytes: number; readonly usedAt: number },
): string {
  const paths = environmentPaths(account, digit.repeat(64));
  const jobId = `job-${digit}`;
  const record: BuiltRecord = { jobId, tool: 'pip', name: digit, contents: digit, builtAt: usedAt, seconds: 1, bytes };
  const program = join(paths.builtBy(jobId), 'bin/python');
  mkdirSync(dirname(program), { recursive: true });
  mkdirSync(paths.users);
  for (const [path, text] of [
    [program, ''],
    [join(paths.users, jobId), ''],
    [paths.lastUse, ''],
    [paths.built, JSON.stringify(record)],
  ] as const) {
    writeFileSync(path, text);
  }
  utimesSync(paths.lastUse, usedAt / 1000, usedAt / 1000);
  return paths.folder;
}

test('what was not used for longest is deleted beyond the limit, but nothing that a job uses', async (t) => {
  const files = filesFolder(t);
  const kept = new KeptEnvironments(files, 100);
  const [ada = '', bob = ''] = ['ada', 'bob'].map((name) => join(environmentsIn(files), kept.nameOf(name) ?? ''));
  assert.notEqual(ada, bob);
  const now = Date.now();
  const oldest = add(ada, '1', { bytes: 60, usedAt: now - 3_000 });
  const inUse = add(ada, '2', { bytes: 60, usedAt: now - 2_000 });
  const newest = add(ada, '3', { bytes: 60, usedAt: now - 1_000 });
  const others = add(bob, '4', { bytes: 60, usedAt: now - 9_000 });
  const left = (): boolean[] => [oldest, inUse, newest, others].map((folder) => existsSync(folder));
  await kept.sweep((id) => id === 'job-2' || id === 'job-1');
  assert.deepEqual(left(), [true, true, true, true], 'jobs use the two that are too many');
  await kept.sweep((id) => id === 'job-2');
  assert.deepEqual(left(), [false, true, true, true]);
  await kept.sweep(() => false);
  assert.deepEqual(left(), [false, false, true, true]);
  assert.deepEqual(
    (await kept.list('ada')).map(({ name, lastUsedAt }) => [name, Math.round(lastUsedAt)]),
    [['3', now - 1_000]],
  );
});

test('what a failed build left is deleted after a day', async (t) => {
  const files = filesFolder(t);
  const kept = new KeptEnvironments(files, 100);
  const paths = environmentPaths(join(environmentsIn(files), kept.nameOf('ada') ?? ''), '5'.repeat(64));
  mkdirSync(paths.builtBy('job-5'), { recursive: true });
  writeFileSync(paths.built, '{"jobId":"job-5",'); // cut off by a full disk, or changed by a job that is not isolated
  await kept.sweep(() => false);
  assert.ok(existsSync(paths.folder));
  const dayAgo = Date.now() / 1000 - 25 * 3600;
  utimesSync(paths.folder, dayAgo, dayAgo);
  await kept.sweep(() => false);
  assert.ok(!existsSync(paths.folder));
  assert.deepEqual(await kept.list('ada'), []);
});

test('without room, nothing is kept', async (t) => {
  const kept = new KeptEnvironments(filesFolder(t), 0);
  assert.equal(kept.nameOf('ada'), undefined);
  assert.deepEqual(await kept.list('ada'), []);
  await kept.sweep(() => false);
});
