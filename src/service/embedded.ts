import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { allowedEnvironment } from '../core/processes/childEnvironment.ts';
import { diskFullError, isDiskFull } from '../core/files/diskSpace.ts';
import { AppError, messageOf } from '../core/errors.ts';
import { requireOwnHome } from '../core/files/ownFiles.ts';
import { makeFolder } from '../core/files/makeFolder.ts';
import { knowsKey } from './serviceProof.ts';
import { environmentOf } from '../core/processes/procfs.ts';
import { readStateFile, type ServiceState } from './stateFile.ts';

const START_TIMEOUT_MS = 15_000;
const POLL_MS = 50;
// A start can fail because another one is in progress, or an earlier service is still stopping. The next attempt then succeeds.
const MAX_STARTS = 3;
const RESTART_DELAY_MS = 1_000;
const LOG_TAIL = 2_000;
const MAX_LOG_BYTES = 1 << 20;
// Free space for a start: the store, its journal and some lines of the log.
const START_BYTES = 512 * 1024;
// A service is idle most of the time. V8's default for short-lived objects costs 40 MB more with a job of 20,000 files.
const SMALL_HEAP = '--max-semi-space-size=4';
const EMBEDDED = ['serve', '--embedded'];
// Where Slurm's programs find their cluster, if that is not the usual place.
const SERVICE_VARIABLES = ['ELECTRON_RUN_AS_NODE', 'SLURM_CONF'];

export type ServiceAddress = Pick<ServiceState, 'url' | 'key' | 'socket'>;

export interface EmbeddedOptions {
  /** FARWHARF_HOME. Each has its own service. */
  readonly home: string;
  /** Executable that runs JavaScript: Node, or Electron with `ELECTRON_RUN_AS_NODE` in `env`. */
  readonly node: string;
  /** Path of `dist/cli.mjs`. */
  readonly cli: string;
  /** Its arguments that start the service; default: those of the command line's own. */
  readonly serveArguments?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  /** Time limit of a start; default: 15 seconds. */
  readonly startTimeoutMs?: number;
}

/**
 * Returns the address of this user's own job service, which is started if none runs. If two are started at once, one remains and
 * both callers get its address. The key is not sent before the service has proven that it knows it.
 *
 * @throws AppError `unreachable` with the end of the service's log if it does not start, `no-space` if the disk is full,
 * `permission` if its folder cannot be written, `refused` if others can write it; the signal's reason on abort.
 */
export async function connectEmbeddedService(options: EmbeddedOptions): Promise<ServiceAddress> {
  const { home, signal, startTimeoutMs = START_TIMEOUT_MS } = options;
  requireOwnHome(home);
  const running = await findRunning(home);
  if (running !== undefined) return running;
  const deadline = performance.now() + startTimeoutMs;
  for (let starts = 0; starts < MAX_STARTS && performance.now() < deadline; starts += 1) {
    if (starts > 0) await sleep(RESTART_DELAY_MS, undefined, { signal });
    const child = startService(options);
    while (performance.now() < deadline) {
      signal?.throwIfAborted();
      const found = await findRunning(home);
      if (found !== undefined) return found;
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) break;
      await sleep(POLL_MS, undefined, { signal });
    }
  }
  throw startFailure(home);
}

/**
 * What to do about the service of this FARWHARF_HOME if it runs and does not respond; undefined if that is not certain: another process may
 * have its number, or it runs on another machine with the same home folder. SIGKILL, because a process that hangs handles no other signal.
 */
export function stuckServiceRemedy(home: string): string | undefined {
  const state = readStateFile(stateFileOf(home));
  const variables = state === undefined ? [] : (environmentOf(state.pid)?.split('\0') ?? []);
  if (state === undefined || !variables.includes(`FARWHARF_HOME=${home}`)) return undefined;
  return `If this continues, stop it:  kill -9 ${state.pid}  Its jobs continue, and the next command starts it again.`;
}

/** A service without space for its store has none for its log either, so the disk is checked here. */
function startFailure(home: string): AppError {
  const cause = diskFullError(serviceFolder(home), START_BYTES);
  if (cause !== undefined) return noSpace(home, cause);
  const remedy = stuckServiceRemedy(home);
  if (remedy !== undefined)
    return new AppError('unreachable', `The job service on this machine runs but does not respond. ${remedy}`);
  const tail = readTail(logFileOf(home));
  return new AppError('unreachable', `The job service on this machine did not start. The end of its log: ${tail}`);
}

function noSpace(home: string, cause: unknown): AppError {
  const message = `The job service on this machine did not start: the disk that holds ${home} is full. Free some space on it, or set FARWHARF_HOME to a folder on another disk.`;
  return new AppError('no-space', message, { cause });
}

async function findRunning(home: string): Promise<ServiceAddress | undefined> {
  const state = readStateFile(stateFileOf(home));
  if (state === undefined) return undefined;
  const { url, key, socket } = state;
  return (await knowsKey(state)) ? { url, key, ...(socket !== undefined && { socket }) } : undefined;
}

function startService({
  home,
  node,
  cli,
  serveArguments = EMBEDDED,
  env = process.env,
}: EmbeddedOptions): ChildProcess {
  const log = openLog(home);
  const child = spawn(node, [SMALL_HEAP, cli, ...serveArguments], {
    cwd: serviceFolder(home),
    // Its jobs get the same variables, so it gets none of the keys and tokens of a person's shell or editor.
    env: { ...allowedEnvironment(env, SERVICE_VARIABLES), FARWHARF_HOME: home },
    detached: true,
    windowsHide: true,
    // It prints its address and key, which must not be logged.
    stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  child.once('error', () => {}); // a child that could not be started has no process ID
  child.unref();
  return child;
}

function openLog(home: string): number {
  const path = logFileOf(home);
  try {
    makeFolder(serviceFolder(home));
    const isLong = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES;
    return openSync(path, isLong ? 'w' : 'a', 0o600);
  } catch (cause) {
    if (isDiskFull(cause)) throw noSpace(home, cause);
    const message = `The job service cannot write to ${serviceFolder(home)}: ${messageOf(cause)}. Make the folder writable, or set FARWHARF_HOME to another one.`;
    throw new AppError('permission', message, { cause });
  }
}

function readTail(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim().slice(-LOG_TAIL) || '(it is empty)';
  } catch {
    return '(there is none)';
  }
}

/** The data folder of the service of this FARWHARF_HOME. */
export function serviceFolder(home: string): string {
  return join(home, 'service');
}

/** The file with the address of the service of this FARWHARF_HOME. */
export function stateFileOf(home: string): string {
  return join(serviceFolder(home), 'state.json');
}

function logFileOf(home: string): string {
  return join(serviceFolder(home), 'service.log');
}
