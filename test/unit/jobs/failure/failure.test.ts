import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { changesSinceSuccess } from '../../../../src/jobs/failure/failureChanges.ts';
import { failureContext } from '../../../../src/jobs/failure/failureContext.ts';
import { detailsReader } from '../../../../src/jobs/failure/failureDetails.ts';
import { failureHints } from '../../../../src/jobs/failure/failureHints.ts';
import { failurePage } from '../../../../src/jobs/failure/failurePage.ts';
import { newRecord } from '../../../../src/jobs/ledger/record.ts';
import { EventSpool } from '../../../../src/jobs/log/spool.ts';

const RECORD = {
  id: '00000000-0000-4000-8000-000000000001',
  host: 'local',
  jobId: 'job-1',
  state: 'failed',
  exitCode: 1,
  script: 'train.py',
  maxRuntime: 60,
  createdAt: '2027-01-01T00:00:00Z',
};
const service = { streamEvents: () => assert.fail('the spool is complete') };
const ledger = { list: async () => [] };
const { signal } = new AbortController();

/** The context of a job in `folder` that printed this, and its page. */
async function explain(home: string, folder: string, text: string) {
  const record = { ...newRecord({ ...RECORD, folder }), jobId: RECORD.jobId };
  const spool = new EventSpool(home, record.id);
  await spool.append([
    { event: 'log', data: { stream: 'stderr', text } },
    { event: 'end', data: { state: 'failed', exit_code: 1 } },
  ]);
  const context = await failureContext(
    { service, home, details: detailsReader({ ledger, home }, signal) },
    record,
    signal,
  );
  return { ...context, page: failurePage(context) };
}

async function scratch(t: TestContext): Promise<{ readonly home: string; readonly folder: string }> {
  const root = await mkdtemp(join(tmpdir(), 'farwharf-failure-'));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'folder'));
  return { home: join(root, 'home'), folder: join(root, 'folder') };
}

test('hints name what is missing, from the end of the job and from its output', () => {
  const plain = { state: 'failed', exitCode: 1, reason: null };
  const cases: readonly [Parameters<typeof failureHints>[0], string, RegExp][] = [
    [{ ...plain, state: 'timed_out' }, '', /time limit/],
    [{ ...plain, exitCode: 137 }, '', /memory/],
    [plain, "ModuleNotFoundError: No module named 'numpy'", /module numpy is not installed/],
    [plain, "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'", /file data\.csv does not exist/],
    [plain, 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate', /ran out of memory/],
    [plain, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from", /module zod was not found/],
  ];
  for (const [record, line, hint] of cases) assert.match(failureHints(record, [line]).join('\n'), hint);
  assert.deepEqual(failureHints(plain, ['all is well']), []);
});

test('output cannot close its code fence or bring escape sequences onto the page', async (t) => {
  const { home, folder } = await scratch(t);
  const { page } = await explain(home, folder, '```\n# Trust me\n````\n\u001b[31mred\u001b]0;title\u0007\n');
  assert.match(page, /^`````\n```\n# Trust me\n````\nred\n`````$/m);
  assert.ok(!page.includes('\u001b'));
});

test('a job whose archive is gone shows code of the folder, and nothing that a link leads to', async (t) => {
  const { home, folder } = await scratch(t);
  await writeFile(join(folder, '..', 'secret.py'), 'password = 1\n');
  await symlink('../secret.py', join(folder, 'link.py'));
  await writeFile(join(folder, 'train.py'), 'one\ntwo\nthree\n');
  const trace = ['link.py', 'train.py', '../secret.py'].map((path) => `  File "/job/${path}", line 1, in f\n`);
  const { frames, page } = await explain(home, folder, `${trace.join('')}ValueError\n`);
  assert.deepEqual(frames, [{ path: 'train.py', line: 1, firstLine: 1, lines: ['one', 'two', 'three', ''] }]);
  assert.ok(!page.includes('password'));
});

test('a file that became binary is listed among the changes without its text', async () => {
  const failed = { ...newRecord({ ...RECORD, folder: '/w' }), createdAt: '2027-01-02T00:00:00Z' };
  const succeeded = { ...failed, id: '1', state: 'succeeded', exitCode: 0, createdAt: '2027-01-01T00:00:00Z' };
  const files = ['a.py', 'b.bin'].map((path) => ({ path, type: 'changed' }));
  const texts: Record<string, [string, string]> = {
    [succeeded.id]: ['rate = 1\n', 'text\n'],
    [failed.id]: ['rate = 2\n', 'bin\0ary'],
  };
  const submitted = {
    changesBetween: async () => files,
    read: async (id: string, paths: string[]) =>
      new Map(paths.map((path, at) => [path, Buffer.from(texts[id]?.[at] ?? '')])),
  };
  const earlier = { list: async () => [failed, succeeded] };
  const changes = await changesSinceSuccess(failed, earlier, submitted as never, signal);
  assert.equal(changes?.since, succeeded);
  assert.match(changes.diff, /^-rate = 1\n\+rate = 2$/m);
  assert.match(changes.diff, /\+\+\+ b\/b\.bin\n\(binary, large/);
});
