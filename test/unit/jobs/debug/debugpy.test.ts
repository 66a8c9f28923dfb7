import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { JobSources } from '../../../../src/jobs/debug/jobSources.ts';
import { serveDebugClient } from '../../../../src/jobs/debug/serveDebugClient.ts';
import { compareLines } from '../../../../src/jobs/source/lineMap.ts';
import { connectTo, DebugClient, fieldsOf, listOf } from './debugClient.ts';

const PYTHON = '/usr/bin/python3'; // Debian's debugger belongs to Debian's Python
const SKIP = hasDebugpy() ? false : `NOT TESTED: ${PYTHON} has no debugpy (Debian: apt-get install python3-debugpy)`;

const TRAIN = `import json
import model

def hook(fields):
    doubled = model.double(fields["lr"])
    return doubled

def main():
    rates = [1, 2]
    result = json.loads('{"lr": 4}', object_hook=hook)
    print("result", result)
    return rates[result]

main()
`;
const MODEL = `def double(rate):
    scale = 2
    return rate * scale
`;
/** What the job runs, which prints the port of its debugger first. */
const START = `import debugpy, runpy, sys
print(debugpy.listen(("127.0.0.1", 0))[1], flush=True)
debugpy.wait_for_client()
sys.argv = ["train.py"]
runpy.run_path("train.py", run_name="__main__")
`;
const SUBMITTED = { 'train.py': TRAIN, 'model.py': MODEL, 'my notes ü.py': 'pass\n' };

interface Job {
  readonly client: DebugClient;
  readonly folder: string;
  readonly port: number;
  /** The exit status of the program. */
  readonly exit: Promise<unknown>;
  /** Sets breakpoints at lines of a file of the folder. */
  setBreakpoints(name: string, lines: readonly number[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  run(): Promise<void>;
  /** The frames at the next stop. */
  frames(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Starts the program with its debugger, and a client that sees the folder `edited`. */
async function startJob(
  t: TestContext,
  edited: Readonly<Record<string, string>>,
  { isStored = true } = {},
): Promise<Job> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-debug-')));
  const [folder, jobFolder] = [join(root, 'my folder'), join(root, 'job')];
  for (const [name, files] of [
    [folder, edited],
    [jobFolder, { ...SUBMITTED, 'start.py': START }],
  ] as const) {
    await mkdir(name);
    for (const [file, text] of Object.entries(files)) await writeFile(join(name, file), text);
  }
  const child = spawn(PYTHON, ['start.py'], { cwd: jobFolder, stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = once(child, 'exit').then(([code]: unknown[]) => code);
  const stopping = new AbortController();
  let client: DebugClient | undefined;
  t.after(async () => {
    stopping.abort();
    client?.close();
    child.kill('SIGKILL');
    await exit;
    await rm(root, { recursive: true });
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const submitted = {
    list: async () => {
      if (!isStored) throw new AppError('missing', 'gone');
      return Object.entries(SUBMITTED).map(([path, text]) => ({
        path,
        size: text.length,
        mode: 0o644,
        sha256: hash('sha256', text),
      }));
    },
    read: async (_id: string, paths: readonly string[]) => {
      if (!isStored) throw new AppError('missing', 'gone');
      const texts = Object.entries(SUBMITTED).filter(([path]) => paths.includes(path));
      return new Map(texts.map(([path, text]) => [path, Buffer.from(text)]));
    },
  };
  const sources = new JobSources({ id: 'job', jobFolder, localFolder: folder, submitted, compare: compareLines });
  const port = await serveDebugClient(
    { port: 0, sources, openDebugger: () => connectTo(Number(line)), onEvent: () => {} },
    stopping.signal,
  );
  const attaching = new DebugClient(await connectTo(port));
  client = attaching;
  const capabilities = await attaching.request('initialize', { clientID: 'test', adapterID: 'farwharf' });
  assert.equal(capabilities['supportsTerminateRequest'], undefined);
  const attached = attaching.request('attach', { justMyCode: false });
  await attaching.event('initialized');
  return {
    client: attaching,
    folder,
    port,
    exit,
    setBreakpoints: async (name, lines) => {
      const breakpoints = lines.map((each) => ({ line: each }));
      const body = await attaching.request('setBreakpoints', { source: { path: join(folder, name) }, breakpoints });
      return listOf(body['breakpoints']);
    },
    run: async () => {
      await attaching.request('setExceptionBreakpoints', { filters: ['uncaught'] });
      await attaching.request('configurationDone');
      await attached;
    },
    frames: async () => {
      const { threadId } = await attaching.event('stopped');
      return listOf((await attaching.request('stackTrace', { threadId }))['stackFrames']);
    },
  };
}

/** The name and the line of a frame, and the file that the client would open: undefined for the text that the job has. */
function shown(frame: Readonly<Record<string, unknown>> | undefined): readonly unknown[] {
  const source = fieldsOf(frame?.['source']);
  return [frame?.['name'], frame?.['line'], source['sourceReference'] === undefined ? source['path'] : undefined];
}

test('a breakpoint in an edited file stops at the line that was submitted, and is shown at the line as it is now', {
  skip: SKIP,
}, async (t) => {
  const edited = `# A comment that was added.\r\n${TRAIN.replaceAll('\n', '\r\n').replace('    return doubled', '    # here\r\n    return doubled')}`;
  const job = await startJob(t, { 'train.py': edited, 'model.py': MODEL });
  const { client, folder } = job;
  const set = await job.setBreakpoints('train.py', [1, 8]);
  assert.deepEqual(
    set.map(({ verified, line }) => [verified, line]),
    [
      [false, undefined],
      [true, 8],
    ],
  );
  assert.match(String(set[0]?.['message']), /added after the job was submitted/);
  await job.run();
  const [top, ...below] = await job.frames();
  assert.deepEqual(shown(top), ['hook', 8, join(folder, 'train.py')]);
  const main = below.find(({ name }) => name === 'main');
  assert.deepEqual(shown(main), ['main', 12, join(folder, 'train.py')]);
  const scopes = listOf((await client.request('scopes', { frameId: top?.['id'] }))['scopes']);
  const { variablesReference } = scopes[0] ?? {};
  const variables = listOf((await client.request('variables', { variablesReference }))['variables']);
  assert.equal(variables.find(({ name }) => name === 'doubled')?.['value'], '8');
  assert.equal((await client.request('evaluate', { expression: 'doubled + 1', frameId: top?.['id'] }))['result'], '9');

  const library = below.find(({ source }) => String(fieldsOf(source)['path']).includes('/json/'));
  const source = fieldsOf(library?.['source']);
  assert.ok(Number(source['sourceReference']) > 0, 'a file of the library is not opened from this machine');
  const { content } = await client.request('source', { source, sourceReference: source['sourceReference'] });
  assert.equal(content, await readFile(String(source['path']), 'utf8'));
});

for (const isStored of [true, false]) {
  const where = isStored ? 'stored here' : 'in the job alone';
  test(`a failure is shown in the file as it is now, and lines that are gone in the submitted text, which is ${where}`, {
    skip: SKIP,
  }, async (t) => {
    // Of the function that failed nothing is left but its first line.
    const edited = `\n\n\n${TRAIN.replace(/ {4}rates[^]*return rates.*\n/, '    pass\n')}`;
    const job = await startJob(t, { 'train.py': edited, 'model.py': MODEL }, { isStored });
    const { client, folder } = job;
    await job.run();
    const frames = await job.frames();
    const top = frames[0];
    assert.deepEqual(shown(top), ['main', 12, undefined]);
    const source = fieldsOf(top?.['source']);
    assert.equal(source['name'], 'train.py as submitted');
    const { content } = await client.request('source', { source, sourceReference: source['sourceReference'] });
    assert.equal(content, TRAIN);
    assert.deepEqual(shown(frames[1]), ['<module>', 14, join(folder, 'train.py')]);
    const { details } = await client.request('exceptionInfo', { threadId: 1 });
    assert.match(String(fieldsOf(details)['stackTrace']), new RegExp(`File "${folder}/train.py", line 14`));
    const notices = client.received
      .filter(({ event }) => event === 'output')
      .map(({ body }) => fieldsOf(body)['output']);
    assert.deepEqual(
      notices.filter((text) => String(text).includes('was edited')),
      ['train.py was edited after the job was submitted. Lines are shown where they are now.\n'],
    );
    // A breakpoint in the submitted text and one in the file belong to the same file of the job.
    const inText = await client.request('setBreakpoints', { source, breakpoints: [{ line: 5 }] });
    assert.equal(listOf(inText['breakpoints'])[0]?.['line'], 5);
    assert.deepEqual(
      (await job.setBreakpoints('train.py', [9])).map(({ line }) => line),
      [9],
    );
  });
}

test('files that were deleted, replaced or not submitted', { skip: SKIP }, async (t) => {
  const job = await startJob(t, { 'train.py': '', 'notes.py': 'pass\n' });
  assert.match(String((await job.setBreakpoints('notes.py', [1]))[0]?.['message']), /not submitted/);
  assert.equal((await job.setBreakpoints('train.py', [1]))[0]?.['verified'], false);
  assert.equal((await job.setBreakpoints('model.py', [2]))[0]?.['verified'], false);
  await job.run();
  assert.deepEqual(
    (await job.frames()).slice(0, 2).map((frame) => shown(frame)),
    [
      ['main', 12, undefined],
      ['<module>', 14, undefined],
    ],
  );
});

test('one client at a time is served, and none ends the job', { skip: SKIP }, async (t) => {
  const job = await startJob(t, SUBMITTED);
  await job.setBreakpoints('train.py', [6]);
  await job.run();
  assert.deepEqual(shown((await job.frames())[0]), ['hook', 6, join(job.folder, 'train.py')]);
  const second = new DebugClient(await connectTo(job.port));
  await second.ended;
  await assert.rejects(job.client.request('terminate'), /cancel the job/);
  await job.client.request('disconnect', { terminateDebuggee: true });
  job.client.close();
  assert.equal(await job.exit, 1, 'the program went on, and failed');
});

function hasDebugpy(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import debugpy'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
