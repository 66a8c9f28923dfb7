import { AppError } from '../../core/errors.ts';
import { endSession, newNonce, openSession, outputUntil, type SshCall } from '../ssh/sshSession.ts';
import { inspectScript } from './scripts.ts';

/** The oldest Node.js that runs the service. */
const NEEDED = [22, 18] as const;
// Programs on network file systems and drivers of GPUs can be slow to start.
const INSPECT_MS = 120_000;
const CLOCK_TOLERANCE_MS = 5 * 60_000;
const MAX_VERSION = 40;

/** What is known about a machine before anything is copied there. */
export interface Inspection {
  /** As `uname -s` and `uname -m` print them. */
  readonly system: string;
  readonly architecture: string;
  /** `glibc 2.36`, or how another C library introduces itself. */
  readonly libc: string;
  readonly cores: number;
  readonly gpus: number;
  readonly hasSlurm: boolean;
  /** Whether the service there has a configuration file. */
  readonly hasConfig: boolean;
  readonly freeBytes: number | undefined;
  readonly isWritable: boolean;
  /** How far the machine's clock is ahead of ours, in milliseconds; 0 if it is about the same. */
  readonly clockAheadMs: number;
  /** The installed builds of the service. */
  readonly builds: readonly string[];
  /** Paths of Node.js that are new enough, the preferred one first. */
  readonly nodes: readonly string[];
  /** The version of the Node.js that the user has named: empty if it is no program there, `unknown` if it does not start. */
  readonly namedNode: string;
}

/**
 * Inspects a machine in one call.
 *
 * @param node a path of Node.js that the user has named; see `isPlainPath`.
 * @throws as `openSession`; AppError `unreachable` if the answer is incomplete.
 */
export async function inspectMachine(call: SshCall, node?: string): Promise<Inspection> {
  const nonce = newNonce();
  const { child, stderr } = await openSession(call, nonce, inspectScript(nonce, node));
  child.stdin.end();
  const limit = AbortSignal.timeout(INSPECT_MS);
  // The session is not awaited, because a background process of a startup file can keep it open.
  const output = await outputUntil(child, nonce, call.signal ? AbortSignal.any([call.signal, limit]) : limit);
  endSession(child);
  call.signal?.throwIfAborted();
  if (!output.includes(nonce)) {
    const message = `The inspection of ${call.machine} was interrupted, so nothing was changed there. Connect again.`;
    throw new AppError('unreachable', message, { cause: stderr() });
  }
  return readInspection(output, Date.now());
}

/** Reads the `key=value` lines of the inspection. @param now the time of this machine, in milliseconds. */
export function readInspection(output: string, now: number): Inspection {
  const all = (key: string): readonly string[] =>
    output.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1).trim()] : []));
  const one = (key: string): string => all(key)[0] ?? '';
  const number = (key: string): number => (/^\d{1,15}$/.test(one(key)) ? Number(one(key)) : 0);
  const skewMs = number('time') === 0 ? 0 : number('time') * 1_000 - now;
  return {
    system: one('system'),
    architecture: one('architecture'),
    libc: one('libc'),
    cores: number('cores'),
    gpus: number('gpus'),
    hasSlurm: one('slurm') !== '',
    hasConfig: one('config') === 'yes',
    freeBytes: one('free_kb') === '' ? undefined : number('free_kb') * 1024,
    isWritable: one('writable') === 'yes',
    clockAheadMs: Math.abs(skewMs) < CLOCK_TOLERANCE_MS ? 0 : skewMs,
    builds: all('build').filter((build) => /^[0-9a-f]{64}$/.test(build)),
    namedNode: one('named').slice(0, MAX_VERSION),
    nodes: [...new Set(all('node').flatMap(usableNode))],
  };
}

/** `v24.1.0 /usr/bin/node`. Paths with unusual characters could not be passed through a shell. */
function usableNode(line: string): readonly string[] {
  const { 1: major = '0', 2: minor = '0', 3: path = '' } = /^v(\d+)\.(\d+)\.\S* (.+)$/.exec(line) ?? [];
  const isNew = Number(major) > NEEDED[0] || (Number(major) === NEEDED[0] && Number(minor) >= NEEDED[1]);
  return isNew && isPlainPath(path) ? [path] : [];
}

/** Whether a path is absolute and can be part of a script. */
export function isPlainPath(path: string): boolean {
  return /^\/[\w./@+:,~ -]*$/.test(path);
}
