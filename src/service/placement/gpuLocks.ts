import { spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { numberField, tryParseJson } from '../../core/jsonFields.ts';
import { findProgram } from '../../core/processes/findProgram.ts';
import type { Logger } from '../../core/log.ts';
import { lockLimitOf, newLockLimit } from '../../core/processes/lockLimit.ts';
import { processIds } from '../../core/processes/procfs.ts';
import { jobProcessTag } from '../jobFiles/jobProcessTag.ts';

// In memory, and the same for all services of the machine, even with an own /tmp or a read-only file system.
const FOLDER = '/dev/shm/farwharf-gpus';
const LOCK_MS = 5_000;
const MAX_RECORD_BYTES = 200;
// How long a GPU is taken to be in use whose user has left no time.
const UNKNOWN_MS = 60_000;
// Longer than any job runs: what another user has written there is not trusted.
const MAX_MS = 100 * 86_400_000;

/** A lock that a job has. */
export interface GpuLock {
  /** The open file, which keeps the lock in each process that has it. */
  readonly descriptor: number | undefined;
  /** Gives the GPU back. */
  release(): void;
  /** Closes the file here; another process that has it keeps the lock. */
  leave(): void;
}

/** A GPU that a job of another service has, until then at most. */
export interface TakenGpu {
  readonly until: number;
}

export interface GpuLocks {
  take(
    name: string,
    use: { readonly jobId: string; readonly until: number; readonly isShared: boolean },
  ): GpuLock | TakenGpu;
}

/**
 * Locks of GPUs that all services of this machine see: files that are locked with flock(2). The service passes the open file on to the
 * process that waits for the job's runner, so that the lock outlives the service. The file names the mark of the job's processes: what a
 * killed runner and a killed service have left running still has the GPU.
 *
 * @returns undefined where the program `flock` is missing, and on other systems than Linux.
 */
export function openGpuLocks(searchPath: string, log: Pick<Logger, 'warn'>, folder = FOLDER): GpuLocks | undefined {
  const program = process.platform === 'linux' ? findProgram('flock', searchPath) : undefined;
  if (program === undefined) return undefined;
  let hasFailed = false;
  return {
    take(name, use) {
      try {
        return takeLock(program, { folder, name: fileName(name) }, use);
      } catch (error) {
        // Somebody else may have put something in the place of the folder, which must not stop all jobs.
        if (!hasFailed) log.warn('GPUs cannot be locked against other services of this machine', { folder, error });
        hasFailed = true;
        return NO_LOCK;
      }
    },
  };
}

const NO_LOCK: GpuLock = { descriptor: undefined, release() {}, leave() {} };
/** Where there is nothing to lock with, this service must be the only one that uses the GPUs. */
export const NO_LOCKS: GpuLocks = { take: () => NO_LOCK };

function takeLock(
  program: string,
  { folder, name }: { readonly folder: string; readonly name: string },
  { jobId, until, isShared }: Parameters<GpuLocks['take']>[1],
): GpuLock | TakenGpu {
  const descriptor = openLockFile(folder, name);
  const busy = (at: number | undefined): TakenGpu => {
    closeSync(descriptor);
    const now = Date.now();
    return { until: at !== undefined && at > now && at < now + MAX_MS ? at : now + UNKNOWN_MS };
  };
  const isLocked = changeLock(program, descriptor, isShared ? SHARED : EXCLUSIVE);
  const record = readRecord(descriptor);
  const mark = newLockLimit(jobProcessTag(jobId));
  const isOwn = record.mark !== undefined && record.mark === mark;
  if (!isLocked && isOwn) {
    // A service was killed when it had just started the runner of this job, which is about to say so.
    closeSync(descriptor);
    return NO_LOCK;
  }
  if (!isLocked) return busy(record.until);
  if (!isOwn && record.mark !== undefined && isMarkInUse(record.mark)) return busy(record.until);
  if (!isShared) writeRecord(descriptor, JSON.stringify({ until, mark }));
  return {
    descriptor,
    release() {
      if (!isShared) ftruncateSync(descriptor, 0);
      // Also for the process that waits for the runner, which may take a moment to end.
      changeLock(program, descriptor, UNLOCKED);
      closeSync(descriptor);
    },
    leave: () => closeSync(descriptor),
  };
}

// Options that the flock of BusyBox knows too.
const EXCLUSIVE = '-x';
const SHARED = '-s';
const UNLOCKED = '-u';

/** The lock belongs to the open file, which the program has only borrowed (flock(2)). */
function changeLock(program: string, descriptor: number, change: string): boolean {
  const { status } = spawnSync(program, ['-n', change, '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    timeout: LOCK_MS,
  });
  return status === 0;
}

/**
 * The folder and its files can be used by every user of the machine, because services of several users share its GPUs. The file is opened
 * in the open folder, because its owner could replace that with a link to a folder of this user.
 *
 * @throws AppError `refused` for what somebody put in the place of the file; the system's error for a folder that is none.
 */
function openLockFile(folder: string, name: string): number {
  const inside = openLockFolder(folder);
  try {
    const descriptor = openOrMake(`/proc/self/fd/${inside}/${name}`);
    const stats = fstatSync(descriptor);
    if (stats.isFile() && stats.nlink === 1) return descriptor;
    closeSync(descriptor);
    throw new AppError('refused', `${join(folder, name)} is not the lock of a GPU. Remove it.`);
  } finally {
    closeSync(inside);
  }
}

function openLockFolder(folder: string): number {
  try {
    withoutUmask(() => mkdirSync(folder, { mode: 0o1777 }));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  return openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/** Linux lets nobody open the file of another user with O_CREAT in such a folder (fs.protected_regular). */
function openOrMake(path: string): number {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  for (;;) {
    try {
      return openSync(path, flags);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
    try {
      return withoutUmask(() => openSync(path, flags | constants.O_CREAT | constants.O_EXCL, 0o666));
    } catch (error) {
      // Another service has just made it.
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** What is made has its permissions from the start: a service of another user that meets it too early could not lock the GPU. */
function withoutUmask<T>(make: () => T): T {
  const before = process.umask(0);
  try {
    return make();
  } finally {
    process.umask(before);
  }
}

function fileName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, '_');
}

function readRecord(descriptor: number): { readonly until: number | undefined; readonly mark: number | undefined } {
  const bytes = Buffer.alloc(MAX_RECORD_BYTES);
  const record = tryParseJson(bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, MAX_RECORD_BYTES, 0)));
  return { until: numberField(record, 'until'), mark: numberField(record, 'mark') };
}

function writeRecord(descriptor: number, text: string): void {
  ftruncateSync(descriptor, 0);
  writeSync(descriptor, text, 0);
}

function isMarkInUse(mark: number): boolean {
  return processIds().some((pid) => lockLimitOf(pid) === mark);
}
