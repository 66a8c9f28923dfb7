import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type RpcProgram, startProcess, startThread } from '../../../../src/core/rpc/rpcProgram.ts';
import { RemoteCaller } from '../../../../src/core/rpc/remoteCaller.ts';
import { GUARD_MS } from '../../timeLimits.ts';

const RPC = join(import.meta.dirname, '../../../../src/core/rpc');
const url = (file: string): string => JSON.stringify(pathToFileURL(join(RPC, file)).href);

const IMPORTS = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { parentProcess, processData } from ${url('rpcProgram.ts')};
  import { serveCalls } from ${url('serveCalls.ts')};`;
const ECHO = `${IMPORTS}
  const data = parentPort === null ? processData() : workerData;
  serveCalls(parentPort ?? parentProcess(), { echo: {
    same: (value) => value, data: () => data, pid: () => process.pid, flags: () => process.execArgv,
    steps: (onStep) => { onStep(1); onStep(2); },
    fail: () => { setImmediate(() => { throw new Error('out of order'); }); return new Promise(() => {}); },
    hang: () => { for (;;); },
  } });`;

interface Value {
  readonly map: ReadonlyMap<string, number>;
  readonly none: undefined;
  readonly bytes: Uint8Array;
}

type Echo = {
  readonly echo: {
    same(value: Value): Value;
    data(): unknown;
    pid(): number;
    flags(): readonly string[];
    steps(onStep: (step: number) => void): void;
    fail(): void;
    hang(): void;
  };
};

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-program-'));
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function echoProgram(t: TestContext, start: (path: string) => RpcProgram) {
  const program = start(join(folderWith(t, { 'echo.mjs': ECHO }), 'echo.mjs'));
  t.after(() => program.terminate());
  const { service } = new RemoteCaller<Echo>((onLost) => {
    program.stopped.then(
      () => onLost(new Error('stopped')),
      (error: unknown) => onLost(new Error('failed', { cause: error })),
    );
    return program;
  });
  return { program, echo: service.echo };
}

const inProcess = (t: TestContext) =>
  echoProgram(t, (path) => startProcess(path, { home: '/a b' }, ['--max-semi-space-size=8']));

async function untilGone(pid: number): Promise<void> {
  for (const deadline = performance.now() + GUARD_MS; isRunning(pid); await sleep(20)) {
    assert.ok(performance.now() < deadline, `process ${pid} still runs`);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a program in a process gets its data and flags, and calls as in a thread, with maps, bytes and callbacks', async (t) => {
  const { echo } = inProcess(t);
  assert.deepEqual(await echo.data(), { home: '/a b' });
  assert.ok((await echo.flags()).includes('--max-semi-space-size=8'));
  assert.notEqual(await echo.pid(), process.pid);
  const same = await echo.same({ map: new Map([['a', 1]]), none: undefined, bytes: Uint8Array.of(1, 2) });
  assert.deepEqual([same.map, 'none' in same, [...same.bytes]], [new Map([['a', 1]]), true, [1, 2]]);
  const steps: number[] = [];
  await echo.steps((step) => steps.push(step));
  assert.deepEqual(steps, [1, 2]);
});

test('NODE_OPTIONS of the editor reach no process', async (t) => {
  const before = process.env['NODE_OPTIONS'];
  process.env['NODE_OPTIONS'] = '--require=/no/such/file.cjs';
  t.after(() => {
    if (before === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = before;
  });
  const { echo } = inProcess(t);
  assert.notEqual(await echo.pid(), process.pid);
});

for (const [place, start] of [
  ['thread', (path: string) => startThread(path, {})],
  ['process', (path: string) => startProcess(path, {}, [])],
] as const) {
  test(`a ${place} that fails rejects its calls with the reason`, async (t) => {
    const { program, echo } = echoProgram(t, start);
    await assert.rejects(echo.fail(), ({ cause }: Error) => /out of order/.test(String(cause)));
    await assert.rejects(program.stopped, /out of order/);
  });

  test(`a ${place} that hangs is stopped all the same, which is no failure`, async (t) => {
    const { program, echo } = echoProgram(t, start);
    await echo.pid();
    const hanging = assert.rejects(echo.hang(), /stopped/);
    await program.terminate();
    await hanging;
    await program.stopped;
  });
}

test('a process that cannot be started fails with the reason', async (t) => {
  const program = startProcess(join(folderWith(t, {}), 'missing.mjs'), {}, []);
  await assert.rejects(program.stopped, /Cannot find module/);
});

test('a process stops with the one that started it, however that ends', async (t) => {
  const parent = `
    import { startProcess } from ${url('rpcProgram.ts')};
    startProcess(process.argv[2], {}, []).on('message', ({ value }) => process.stdout.write(String(value) + '\\n'));`;
  const child = `${IMPORTS}
    parentProcess().postMessage({ value: process.pid });
    setInterval(() => {}, 1_000);`;
  const folder = folderWith(t, { 'parent.mjs': parent, 'child.mjs': child });
  const started = spawn(process.execPath, [join(folder, 'parent.mjs'), join(folder, 'child.mjs')]);
  const pid = await new Promise<number>((resolve) => {
    started.stdout.once('data', (line: Buffer) => resolve(Number(line)));
  });
  assert.ok(isRunning(pid));
  started.kill('SIGKILL');
  await untilGone(pid);
});
