import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { failureContext, failureHints } from '../../../../src/jobs/failure/failureContext.ts';
import { changesSinceSuccess, detailsReader } from '../../../../src/jobs/failure/failureDetails.ts';
import { failureAsJson } from '../../../../src/jobs/failure/failureJson.ts';
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
async function explain(home: string, folder: string, text: string, script = RECORD.script) {
  const record = { ...newRecord({ ...RECORD, folder, script }), jobId: RECORD.jobId };
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

test('each known cause has its sentence', () => {
  const plain = { state: 'failed', exitCode: 1, reason: null };
  const hintsFor = (line: string, record: Partial<Parameters<typeof failureHints>[0]> = {}) =>
    failureHints({ ...plain, ...record }, [line]);
  const noMemory = 'The job ran out of memory. Choose a machine class with more memory, or use smaller batches.';
  const noNetwork = 'A network address could not be reached. Jobs of this service may have no network.';
  const missingFile =
    'The file a b.csv does not exist in the job. Check that it is in the folder and not left out: farwharf submit --dry-run lists both.';
  const missingKey = (key: string): string =>
    `The key ${key} is missing in a dictionary. Compare the code with the input or configuration that it reads.`;
  const noModule = 'The Python module a.b is not installed in the job. Add its package to the requirements of the job.';
  for (const [line, hint] of [
    ["ModuleNotFoundError: No module named 'a.b'", noModule],
    ['ImportError: No module named a.b', noModule],
    [
      "Cannot find module './x'",
      'The module ./x was not found. node_modules is not sent: install packages in the job, or bundle the script.',
    ],
    ["FileNotFoundError: [Errno 2] No such file or directory: 'a b.csv'", missingFile],
    ["Error: ENOENT: no such file, open 'a b.csv'", missingFile],
    ["cannot open file 'a b.csv': No such file or directory", missingFile],
    ['run.sh: line 2: cd: a b.csv: No such file or directory', missingFile],
    ["KeyError: 'rate'", missingKey("'rate'")],
    ['KeyError: "rate"', missingKey('"rate"')],
    ['KeyError: 7', missingKey('7')],
    ['CUDA out of memory', noMemory],
    ['numpy.core._exceptions.MemoryError', noMemory],
    ['JavaScript heap out of memory', noMemory],
    ['OSError: Cannot allocate memory', noMemory],
    ['OSError: No space left on device', "The disk was full. Write less, or write to the job's own folder."],
    ['Name or service not known', noNetwork],
    ['getaddrinfo ENOTFOUND x', noNetwork],
    ['getaddrinfo EAI_AGAIN x', noNetwork],
    ['Network is unreachable', noNetwork],
    ['Temporary failure in name resolution', noNetwork],
    ['SyntaxError: invalid syntax', 'The program could not be parsed: invalid syntax.'],
    ['IndentationError: unexpected indent', 'The program could not be parsed: unexpected indent.'],
  ] as const) {
    assert.deepEqual(hintsFor(line), [hint], line);
    assert.deepEqual(hintsFor('', { reason: line }), [hint], `as the reason: ${line}`);
  }
  for (const [exitCode, hint] of [
    [126, 'The program could not be executed. Check its first line (#!) and its permissions.'],
    [127, 'A command was not found. Install it, or check the spelling and PATH.'],
    [
      137,
      'The process was killed (SIGKILL), usually because it used too much memory. Choose a machine class with more memory, or use smaller batches.',
    ],
    [139, 'The process crashed in native code (SIGSEGV). Suspect a compiled package, and check that its version fits.'],
  ] as const) {
    assert.deepEqual(hintsFor('', { exitCode }), [hint]);
  }
  assert.deepEqual(hintsFor('', { state: 'timed_out', exitCode: null }), [
    'The job reached its time limit. Set a longer limit, or do less in one job and save intermediate results.',
  ]);
});

test('at most four causes are named, each once, those of the last lines first', () => {
  const plain = { state: 'timed_out', exitCode: 137, reason: 'No space left on device' };
  const lines = ['KeyError: 1', 'KeyError: 2', 'KeyError: 2', 'MemoryError', ''];
  const hints = failureHints(plain, lines);
  assert.deepEqual(
    hints.map((hint) => hint.split(' ').slice(0, 4).join(' ')),
    ['The job reached its', 'The process was killed', 'The disk was full.', 'The job ran out'],
  );
  const keys = failureHints({ state: 'failed', exitCode: 1, reason: null }, lines);
  assert.deepEqual(
    keys.map((hint) => /The key (\d)/.exec(hint)?.[1]),
    [undefined, '2', '1'],
  );
  const late = `${'x '.repeat(1_000)}KeyError: 1`;
  assert.deepEqual(failureHints({ state: 'failed', exitCode: 1, reason: null }, [late]), [], 'far into a line');
});

test('the page of a failure says all that is known, and what is not', () => {
  const record = {
    ...newRecord({ ...RECORD, folder: '/w' }),
    machineClass: 'a10g',
    startedAt: '2027-01-01T00:00:00Z',
    finishedAt: '2027-01-01T00:01:30Z',
    gitCommit: 'a'.repeat(40),
    venv: { python: '3.12' },
  };
  const since = { ...record, jobId: 'job-0' };
  const files = Array.from({ length: 22 }, (_, index) => ({ path: `f${index}.py`, type: 'changed' as const }));
  const frames = [{ path: 'train.py', line: 9, firstLine: 8, lines: ['eight', 'nine', 'ten'] }];
  const context = {
    record,
    lines: ['one', 'two'],
    hints: ['Do this.', 'Or that.'],
    frames,
    changes: { since, files, diff: '-a\n+b\n', isCut: true },
  };
  assert.equal(
    failurePage(context),
    `# Why train.py failed

failed (exit 1) after 2 min

## Likely causes

- Do this.
- Or that.

## Last lines of the output

\`\`\`
one
two
\`\`\`

## Code that the output names

train.py, line 9

\`\`\`
   8 eight
>  9 nine
  10 ten
\`\`\`

## What changed since it last worked

Since job job-0 succeeded:

${files
  .slice(0, 20)
  .map(({ path }) => `- changed: ${path}`)
  .join('\n')}
- and 2 more

\`\`\`diff
-a
+b

\`\`\`

The diff is not complete.

## Environment

- Job: job-1
- Machine class: a10g
- Exit code: 1
- Ran for: 2 min of at most 1 min
- Git commit: ${'a'.repeat(40)}
- Environment: {"python":"3.12"}
`,
  );
  const same = { since, files: [], diff: '', isCut: false };
  const little = {
    record: newRecord({ ...RECORD, folder: '/w', exitCode: null }),
    lines: [],
    hints: [],
    frames: [],
    changes: same,
  };
  assert.equal(
    failurePage(little),
    `# Why train.py failed

failed (failed)

## Last lines of the output

The job printed nothing.

## What changed since it last worked

No file changed since job job-0 succeeded. Suspect its input, the machine or the environment.

## Environment

- Job: job-1
`,
  );
  const some = { since, files: files.slice(0, 20), diff: '+b\n', isCut: false };
  const page = failurePage({ ...little, frames: [...frames, ...frames], changes: some });
  assert.ok(page.includes('- changed: f19.py\n\n```diff\n+b\n\n```\n\n## Environment'), page);
  assert.ok(page.includes('  10 ten\n```\n\ntrain.py, line 9'), page);
  assert.match(
    failurePage({ ...little, changes: undefined }),
    /\n\nUnknown: no earlier job with this script succeeded here, or its files are no longer stored\.\n\n## Environment/,
  );
});

test('a failure for programs has the same fields for every job', () => {
  const record = { ...newRecord({ ...RECORD, folder: '/w' }), reason: 'killed\nby us' };
  const context = { record, lines: ['one'], hints: ['Do this.'], frames: [], changes: undefined };
  assert.deepEqual(failureAsJson(context), {
    job_id: 'job-1',
    state: 'failed',
    reason: 'killed by us',
    exit_code: 1,
    likely_causes: ['Do this.'],
    log: ['one'],
    code: [],
    changes: null,
    environment: { script: 'train.py', machine_class: null, max_runtime: 60, git_commit: null, venv: null },
  });
  const frames = [{ path: 'a.py', line: 2, firstLine: 1, lines: ['x', 'y'] }];
  const files = Array.from({ length: 101 }, () => ({ path: 'f', type: 'added' as const }));
  const changes = { since: record, files, diff: 'd', isCut: false };
  const full = failureAsJson({ ...context, record: { ...record, reason: null }, frames, changes });
  assert.deepEqual([full.reason, full.code], [null, [{ path: 'a.py', line: 2, first_line: 1, lines: ['x', 'y'] }]]);
  assert.deepEqual(full.changes, { since_job_id: 'job-1', files: files.slice(1), diff: 'd', is_cut: true });
  const fits = failureAsJson({ ...context, changes: { ...changes, files: files.slice(1) } });
  assert.equal(fits.changes?.is_cut, false);
});

test('a job that runs or succeeded has no failure', async (t) => {
  const { home, folder } = await scratch(t);
  const contextOf = (fields: object) =>
    failureContext(
      { service, home, details: detailsReader({ ledger, home }, signal) },
      { ...newRecord({ ...RECORD, folder }), ...fields, jobId: 'job-1' },
      signal,
    );
  await assert.rejects(contextOf({ state: 'running', exitCode: null }), {
    code: 'bad-input',
    message: 'Job job-1 has not failed: its state is running.',
  });
  await assert.rejects(contextOf({ state: 'succeeded', exitCode: 0 }), {
    code: 'bad-input',
    message: 'Job job-1 has not failed: it succeeded.',
  });
});

test('the output of a failure is its last 60 lines, shortened, without blank ones at the end', async (t) => {
  const { home, folder } = await scratch(t);
  const text = Array.from({ length: 70 }, (_, index) => `${index} ${'x'.repeat(600)}\n`).join('');
  const { lines } = await explain(home, folder, `${text}\n  \n`);
  assert.equal(lines.length, 60);
  assert.deepEqual([lines[0]?.slice(0, 3), lines.at(-1)?.slice(0, 3)], ['10 ', '69 ']);
  assert.ok(lines.every((line) => line.length === 500));
});

test('of the code that the output names, the last eight places are shown with three lines around', async (t) => {
  const { home, folder } = await scratch(t);
  const source = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  await writeFile(join(folder, 'train.py'), source.join('\r\n'));
  const trace = [1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 20, 21, 0].map((line) => `  File "/job/train.py", line ${line}, in f\n`);
  const { frames } = await explain(home, folder, trace.join(''));
  assert.deepEqual(
    frames.map(({ line, firstLine, lines }) => [line, firstLine, lines.length, lines.at(-1)]),
    [5, 6, 7, 8, 9, 3, 20]
      .map((line) => {
        const [first, last] = [Math.max(1, line - 3), Math.min(20, line + 3)];
        return [line, first, last - first + 1, `line ${last}`];
      })
      .slice(-frames.length),
  );
  assert.deepEqual(frames.map(({ line }) => line).slice(-2), [3, 20]);
});

test('changes are those since the last success of the same script in the same folder', async () => {
  const failed = {
    ...newRecord({ ...RECORD, folder: '/w' }),
    script: 'train.py --a 1',
    createdAt: '2027-01-05T00:00:00Z',
  };
  const job = (id: string, fields: object) => ({
    ...failed,
    id,
    state: 'succeeded',
    exitCode: 0,
    createdAt: '2027-01-01T00:00:00Z',
    ...fields,
  });
  const earlier = [
    job('later', { createdAt: '2027-01-06T00:00:00Z' }),
    failed,
    job('failed', { state: 'failed', exitCode: 1 }),
    job('other', { script: 'train.py2' }),
    job('same', { script: 'train.py --b 2' }),
    job('older', {}),
  ];
  const asked: unknown[] = [];
  const list = async (query?: object) => {
    asked.push(query);
    return earlier;
  };
  const many = Array.from({ length: 21 }, (_, index) => ({ path: `f${index}`, type: 'changed' }));
  const submitted = {
    changesBetween: async (...ids: string[]) => {
      asked.push(ids);
      return many;
    },
    read: async (id: string, paths: string[]) =>
      new Map(paths.map((path) => [path, Buffer.from(`${id === 'same' ? 'before' : 'after'} ${path}\n`)])),
  };
  const changes = await changesSinceSuccess(failed, { list }, submitted as never, signal);
  assert.equal(changes?.since.id, 'same');
  assert.deepEqual(asked, [{ host: 'local', folder: '/w', limit: 500 }, ['same', failed.id]]);
  assert.deepEqual([changes.files.length, changes.isCut], [21, true]);
  assert.equal(changes.diff.match(/^-before/gm)?.length, 20);
  assert.match(changes.diff, /^--- a\/f0\n\+\+\+ b\/f0\n@@ -1,1 \+1,1 @@\n-before f0\n\+after f0\n--- a\/f1/);
  const gone = { ...submitted, changesBetween: async () => Promise.reject(new Error('gone')) };
  assert.equal(await changesSinceSuccess(failed, { list }, gone as never, signal), undefined);
  const aborted = AbortSignal.abort(new Error('enough'));
  await assert.rejects(changesSinceSuccess(failed, { list }, gone as never, aborted), /enough/);
  assert.equal(
    await changesSinceSuccess(failed, { list: async () => earlier.slice(0, 4) }, submitted as never, signal),
    undefined,
  );
});

test('a long diff is cut, and a large text is not compared', async () => {
  const failed = { ...newRecord({ ...RECORD, folder: '/w' }), createdAt: '2027-01-05T00:00:00Z' };
  const succeeded = { ...failed, id: 'before', state: 'succeeded', exitCode: 0, createdAt: '2027-01-01T00:00:00Z' };
  const diffOf = async (before: string, after: string) => {
    const submitted = {
      changesBetween: async () => [{ path: 'a', type: 'changed' }],
      read: async (id: string) => new Map([['a', Buffer.from(id === 'before' ? before : after)]]),
    };
    return changesSinceSuccess(failed, { list: async () => [succeeded] }, submitted as never, signal);
  };
  const long = await diffOf('', 'x\n'.repeat(20_000));
  assert.deepEqual([long?.diff.length, long?.isCut], [16_000, true]);
  const short = await diffOf('a\n', 'b\n');
  assert.equal(short?.isCut, false);
  const unshown = '--- a/a\n+++ b/a\n(binary, large, or different throughout)\n';
  assert.equal((await diffOf('a', 'x'.repeat(200_001)))?.diff, unshown);
  assert.notEqual((await diffOf('a', 'x'.repeat(200_000)))?.diff, unshown);
  assert.equal((await diffOf('a\0', 'b'))?.diff, unshown);
});

test('the lines of a cell of a notebook are shown, as the job counts its cells', async (t) => {
  const { home, folder } = await scratch(t);
  const cell = (source: string, more: object = {}) => ({ cell_type: 'code', source, metadata: {}, ...more });
  const parameters = cell('p = 1', { metadata: { tags: ['injected-parameters'] } });
  const cells = [cell('# text', { cell_type: 'markdown' }), parameters, cell(' '), cell('a = 1'), cell('b = 0\na / b')];
  await writeFile(join(folder, 'a.ipynb'), JSON.stringify({ nbformat: 4, cells }));
  const text = 'Cell In [2], line 2\nCell In [9], line 1\ncell 2 of 2 of a.ipynb failed: ZeroDivisionError: x\n';
  const { frames, page } = await explain(home, folder, text, 'a.ipynb p=1');
  assert.deepEqual(frames[0], { path: 'a.ipynb', cell: 2, line: 2, firstLine: 1, lines: ['b = 0', 'a / b'] });
  assert.match(page, /a\.ipynb, cell 2, line 2\n\n```\n  1 b = 0\n> 2 a \/ b\n```/);
});
