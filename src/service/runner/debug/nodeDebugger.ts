// Opens a process of Node.js for debuggers (`NODE_OPTIONS=--require nodeDebugger.cjs`). It runs in the job, so whatever it says is as
// trustworthy as the job. A thread of its own talks to V8's debugger within the process. So nothing listens but a socket in the job's private
// folder: Node's own inspector listens on TCP, where other jobs could connect, and has no password.
import { Session, waitForDebugger } from 'node:inspector';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DEBUG_FOLDER_VARIABLE, DEBUG_ROOT_VARIABLE, DEBUG_WAIT_VARIABLE } from './debugSockets.ts';
import { NodeDebuggerThread, type NodeDebuggerOptions } from './nodeDebuggerThread.ts';

/** What both threads know of each other, in memory that they share. */
const READY = 1;
const RUNNING = 2;
const LEFT = 3;
const POLL_MS = 2;
// A thread that does not leave in this time keeps no process from ending.
const LEAVE_MS = 1_000;
const RELEASE_MS = 20;

interface ThreadData {
  readonly farwharfDebugger: NodeDebuggerOptions;
  readonly state: Int32Array;
}

const { env } = process;
const data: unknown = workerData;
if (isMainThread) install();
else if (isOwnThread(data)) runThread(data);

function isOwnThread(value: unknown): value is ThreadData {
  return typeof value === 'object' && value !== null && 'farwharfDebugger' in value;
}

function install(): void {
  const [folder, root] = [env[DEBUG_FOLDER_VARIABLE], env[DEBUG_ROOT_VARIABLE]];
  if (folder === undefined || root === undefined) return;
  const script = ownScript(root);
  const isWaiting = env[DEBUG_WAIT_VARIABLE] !== undefined && script !== undefined;
  // For the first process only.
  if (isWaiting) delete env[DEBUG_WAIT_VARIABLE];
  const rank = [env['RANK'], env['SLURM_PROCID']].find((value) => /^\d{1,6}$/.test(value ?? ''));
  const state = new Int32Array(new SharedArrayBuffer(4));
  try {
    const farwharfDebugger = { folder, root, script, rank, isWaiting, file: __filename };
    const own: ThreadData = { farwharfDebugger, state };
    const thread = new Worker(__filename, { workerData: own, execArgv: [], env: {} });
    thread.unref();
    thread.on('error', () => Atomics.store(state, 0, LEFT));
    // V8's debugger answers the thread meanwhile.
    while (Atomics.load(state, 0) === 0) Atomics.wait(state, 0, 0, POLL_MS);
    if (isWaiting && Atomics.load(state, 0) === READY) waitAtStart();
    Atomics.compareExchange(state, 0, READY, RUNNING);
    process.on('exit', () => {
      // Node.js prints a line if a debugger is still connected.
      thread.postMessage('leave');
      const end = performance.now() + LEAVE_MS;
      while (Atomics.load(state, 0) === RUNNING && performance.now() < end) Atomics.wait(state, 0, RUNNING, POLL_MS);
    });
    process.on('uncaughtExceptionMonitor', holdAtUncaught);
  } catch (error) {
    process.emitWarning(`farwharf: no debugger can be attached to this process: ${String(error)}`);
  }
}

/** The file of the job that this process runs; undefined for a tool that starts one. */
function ownScript(root: string): string | undefined {
  const [, script = ''] = process.argv;
  const inside = relative(root, script);
  const isOwn = inside !== '' && !inside.startsWith('..') && !inside.split(/[\\/]/).includes('node_modules');
  return isOwn ? script : undefined;
}

function waitAtStart(): void {
  const session = new Session();
  session.connect(); // without a session there is nothing to wait for
  waitForDebugger();
  session.disconnect();
}

/** Stops at an error where V8 could not: its function has been left by then. The thread knows this function by its name. */
function holdAtUncaught(error: unknown): void {
  if (process.listenerCount('uncaughtException') > 0) return;
  // oxlint-disable-next-line no-debugger -- it is for the debugger that this file opens
  debugger;
  void error;
}

function runThread({ state, farwharfDebugger }: ThreadData): void {
  const set = (value: number): void => {
    Atomics.store(state, 0, value);
    Atomics.notify(state, 0);
  };
  const thread = new NodeDebuggerThread(farwharfDebugger);
  thread.ready.then(
    () => set(READY),
    () => set(LEFT),
  );
  // The main thread may be about to wait.
  const release = async (): Promise<void> => {
    await thread.released;
    for (; Atomics.load(state, 0) === READY; await sleep(RELEASE_MS)) thread.release();
  };
  void release();
  parentPort?.once('message', () => {
    thread[Symbol.dispose]();
    set(LEFT);
    process.exit();
  });
}
