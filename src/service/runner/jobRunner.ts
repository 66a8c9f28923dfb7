// Runs one job: `node jobRunner.mjs <job folder>`. A process of its own, so that jobs outlive the service.
// With `--clean-up` it ends what a runner that was killed on this machine left behind.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { messageOf, systemCode } from '../../core/errors.ts';
import { readConfinement } from '../jobFiles/confinement.ts';
import { claimJob, DEFAULT_MAX_LOG_BYTES, jobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import type { ExitMarker } from '../jobFiles/markers.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import { OutputLog } from './outputLog.ts';
import { endProcesses, processIdentity } from '../../core/processes/processTree.ts';
import { jobProcessTag } from '../jobFiles/jobProcessTag.ts';
import { SEALED, SECRET_LENGTH, sealed } from '../jobFiles/reportSeal.ts';
import { runJob, type StopReason } from './runJob.ts';

const CANCEL_POLL_MS = 100;
const KILL_GRACE_MS = 5_000;
const FULL_DISK_POLL_MS = 1_000;
// How much later than its script the runner may be told to end.
const SIGNAL_WAIT_MS = 1_000;

const folder = jobFolder(process.argv[2] ?? '');
const stop = new AbortController();

/**
 * A file asks for the end and not a signal: it stays asked for when either side restarts, and works over a network. So does a
 * claim that is gone: the service has ended the job and removed its files.
 */
async function watchForCancel(): Promise<void> {
  while (!existsSync(folder.cancel) && !isRemoved(folder.claim)) await sleep(CANCEL_POLL_MS, undefined, { ref: false });
  stop.abort('cancelled' satisfies StopReason);
}

async function main(): Promise<void> {
  const secret = process.argv[3] === SEALED ? readSecret() : undefined;
  const identity = processIdentity(process.pid) ?? 'unknown';
  if (!claimJob(folder, { pid: process.pid, identity })) return;
  let wasToldToEnd = false;
  const told = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      wasToldToEnd = true;
      told.resolve();
      stop.abort('stopped' satisfies StopReason);
    });
  }
  if (existsSync(folder.cancel)) stop.abort('cancelled' satisfies StopReason);
  else void watchForCancel();
  const output = new OutputLog(folder.output, maxLogBytes());
  const outcome = await runJob(folder, output, stop.signal);
  output.close();
  const at = Date.now();
  // A cluster signals the processes of a job one after the other: the script may get it first, and end with any status.
  if (secret === undefined) await Promise.race([told.promise, sleep(SIGNAL_WAIT_MS)]);
  await report(sealed({ ...outcome, at, wasToldToEnd }, secret));
}

/** Writes how the job ended. Jobs fill disks, so this waits for space rather than let the job be lost. */
async function report(exit: ExitMarker): Promise<void> {
  for (;;) {
    try {
      return writeMarker(folder.exit, exit);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await sleep(FULL_DISK_POLL_MS);
    }
  }
}

/** Nobody sees what comes this way: not in a file, an argument or a variable. Without all of it the service ended, and the job is not begun. */
function readSecret(): string {
  const secret = readFileSync(0, 'utf8');
  if (secret.length !== SECRET_LENGTH) throw new Error('The service ended before it had said everything.');
  return secret;
}

/** What is wrong with the job's folder is told when the job is run. */
function maxLogBytes(): number {
  try {
    const spec = JSON.parse(readFileSync(folder.spec, 'utf8')) as Partial<RunnerSpec>;
    // The limit of a job's files binds its runner too. Its end and what the runner notes come after what the log may keep.
    const maxFileBytes = readConfinement(folder.confinement)?.limits.maxFileBytes ?? Number.POSITIVE_INFINITY;
    return Math.min(spec.maxLogBytes ?? DEFAULT_MAX_LOG_BYTES, Math.floor(maxFileBytes / 2));
  } catch {
    return DEFAULT_MAX_LOG_BYTES;
  }
}

/** Not when it only cannot be reached for a moment, as on a network. */
function isRemoved(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return systemCode(error) === 'ENOENT';
  }
}

async function cleanUp(): Promise<void> {
  const { readClaim } = await import('../jobFiles/markers.ts'); // what a runner that lives would not need and would wait for
  const claim = await readClaim(folder.claim);
  if (claim !== undefined && processIdentity(claim.pid) === claim.identity) return; // that runner lives
  await endProcesses({ group: undefined, mark: jobProcessTag(basename(folder.path)) }, KILL_GRACE_MS);
}

try {
  await (process.argv[3] === '--clean-up' ? cleanUp() : main());
} catch (error) {
  process.stderr.write(`The job's runner failed: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
