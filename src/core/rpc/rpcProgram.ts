import { type Serializable, spawn } from 'node:child_process';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { MessageEndpoint } from './rpcMessages.ts';

const ERROR_CHARACTERS = 2_000;

/** A program in a thread or a process of its own, which serves calls with `serveCalls`. */
export interface RpcProgram extends MessageEndpoint {
  /** Resolves when it has stopped. @throws its failure. */
  readonly stopped: Promise<void>;
  terminate(): Promise<void>;
}

/** Starts the program at a path in a thread. It gets the data with `threadData`. */
export function startThread(path: string, options: Pick<WorkerOptions, 'name' | 'workerData'>): RpcProgram {
  const worker = new Worker(path, options);
  return {
    postMessage: (message) => worker.postMessage(message),
    on: (event, listener) => worker.on(event, listener),
    off: (event, listener) => worker.off(event, listener),
    stopped: new Promise((resolve, reject) => worker.on('exit', () => resolve()).on('error', reject)),
    terminate: async () => void (await worker.terminate()),
  };
}

/**
 * Starts the program at a path in a process. It gets the data with `processData`, calls with `parentProcess`, and stops when this process
 * does. While it runs, a process takes 10 MB more than a thread, but its end returns all of its memory. After a thread ends, the C library
 * keeps what was allocated outside of V8's heap: tens of megabytes after an index build.
 *
 * @param data plain JSON.
 * @param flags of Node.js.
 */
export function startProcess(path: string, data: object, flags: readonly string[]): RpcProgram {
  const child = spawn(process.execPath, [...flags, path, JSON.stringify(data)], {
    // On a desktop, the extension host is Electron's Node.js. NODE_OPTIONS are for programs of the terminal that started the editor.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_OPTIONS: undefined },
    serialization: 'advanced', // copies what a thread's messages can contain
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    windowsHide: true,
  });
  let [errors, isEnding] = ['', false];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-ERROR_CHARACTERS);
  });
  const stopped = new Promise<void>((resolve, reject) => {
    child.once('error', reject); // it could not be started
    child.once('close', (code, signal) => {
      if (isEnding || code === 0) resolve();
      else reject(new Error(`The process stopped with ${signal ?? code}. ${errors}`));
    });
  });
  return {
    postMessage: (message: Serializable) => void child.send(message, () => {}), // if it has stopped, `stopped` reports that
    on: (event, listener) => child.on(event, listener),
    off: (event, listener) => child.off(event, listener),
    stopped,
    terminate: async () => {
      isEnding = true;
      child.kill();
      await stopped.catch(() => {});
    },
  };
}

/** The channel to the process that started this one with `startProcess`, undefined if none did. This process stops when that one does. */
export function parentProcess(): MessageEndpoint | undefined {
  if (process.send === undefined) return undefined;
  process.once('disconnect', () => process.exit());
  return {
    postMessage: (message) => void process.send?.(message, undefined, undefined, () => {}), // it may be stopping
    on: (event, listener) => process.on(event, listener),
    off: (event, listener) => process.off(event, listener),
  };
}

/** What `startProcess` passed to this process. It is not checked, because both are parts of the same build. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type
export function processData<T>(): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(process.argv[2] ?? '{}') as T;
}
