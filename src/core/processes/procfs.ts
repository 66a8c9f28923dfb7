// Reads /proc of Linux: proc(5).
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';

// PF_KTHREAD in linux/sched.h: a kernel thread, which has no environment.
const KERNEL_THREAD = 0x0020_0000;
// A process can claim any length for its environment (prctl(2), PR_SET_MM_MAP), even gigabytes. This is above what the service allows
// a job.
const MAX_ENVIRONMENT_BYTES = 1024 * 1024;

export interface ProcessStat {
  readonly group: number;
  readonly startTime: string;
  readonly isKernelThread: boolean;
  /** Whether it was started with an empty environment. False while it starts another program, and if the system does not say. */
  readonly hasNoVariables: boolean;
}

export function readStat(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  // The name in parentheses may contain anything, so fields are counted after it (state is the third field, group the fifth, flags
  // the ninth, and the environment is between the addresses in fields 50 and 51).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = 'X', , group = ''] = fields;
  const startTime = fields[19];
  // If only the first thread has ended, the process is shown as a zombie although its other threads run.
  const threads = Number(fields[17]);
  if (startTime === undefined || state === 'X' || (state === 'Z' && threads <= 1)) return undefined;
  const [environmentStart, environmentEnd] = fields.slice(47, 49);
  return {
    group: Number(group),
    startTime,
    isKernelThread: (Number(fields[6]) & KERNEL_THREAD) !== 0,
    // Both are 0 until a program that is being started has its memory, and for processes of other users.
    hasNoVariables: environmentStart === environmentEnd && environmentEnd !== '0',
  };
}

/** All processes but this one, by ID and start time. */
export function runningProcesses(): ReadonlyMap<string, ProcessStat & { readonly pid: number }> {
  return new Map(
    processIds().flatMap((pid) => {
      const stat = readStat(pid);
      return stat === undefined ? [] : [[`${pid} ${stat.startTime}`, { pid, ...stat }] as const];
    }),
  );
}

/** IDs of all processes but this one. */
export function processIds(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** Identifies the process namespace of a process; undefined if it has stopped or belongs to another user. */
export function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

/** The start of a process's environment, up to the longest that the service allows; undefined if it cannot be read. */
export function environmentOf(pid: number): string | undefined {
  const environment = readEnvironment(`/proc/${pid}/environ`);
  if (environment) return environment;
  // When the first thread ends, only the others keep the environment.
  const ofThreads = threadsOf(pid).map((thread) => readEnvironment(`/proc/${pid}/task/${thread}/environ`));
  return ofThreads.find((text) => text) ?? environment;
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).filter((thread) => thread !== String(pid));
  } catch {
    return []; // it has stopped
  }
}

function readEnvironment(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.allocUnsafe(MAX_ENVIRONMENT_BYTES);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(file, buffer, length, Math.min(64 * 1024, buffer.length - length), null);
      }
      return buffer.toString('utf8', 0, length);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** The text of a small file; empty if it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
