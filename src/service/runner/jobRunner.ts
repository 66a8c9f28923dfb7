// Runs one job: `node jobRunner.mjs <job folder>`. It is a separate process, so that jobs outlive the service.
// With `--clean-up` it stops what a killed runner left running on this machine, with `--enter` it connects to a runner.
import { createWriteStream, existsSync, readFileSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { messageOf, systemCode } from '../../core/errors.ts';
import { openRedactor } from '../../core/text/secretRedactor.ts';
import { readConfinement } from '../jobFiles/confinement.ts';
import { claimJob, DEFAULT_MAX_LOG_BYTES, jobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import type { ExitMarker } from '../jobFiles/markers.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import { OutputLog } from './output/outputLog.ts';
import { closeInheritedDescriptors } from '../../core/processes/inheritedDescriptors.ts';
import { newLockLimit } from '../../core/processes/lockLimit.ts';
import { endProcesses, processIdentity } from '../../core/processes/processTree.ts';
import { jobProcessTag } from '../jobFiles/jobProcessTag.ts';
import { enterJob } from '../jobFiles/jobEntrance.ts';
import { ENTER, NOT_ENTERED, parseRunnerInput, takeSecrets, WITHOUT_MODULE } from '../jobFiles/runnerInput.ts';
import { removeDebugFolder } from './debug/debugFolder.ts';
import { handBack, isPersons, takeOver } from './personsFiles.ts';
import { SEALED, sealed } from '../jobFiles/reportSeal.ts';
import type { StopReason } from './jobRun.ts';
import { runJob } from './runJob.ts';
import { JobTunnel } from './tunnel/jobTunnel.ts';
import { printableLine } from '../../core/text/printable.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import { thisNode } from './program/containerCall.ts';

const CANCEL_POLL_MS = 100;
const KILL_GRACE_MS = 5_000;
const DISK_POLL_MS = 1_000;
// How long a shared folder may be unavailable before it counts as deleted.
const MAX_AWAY_MS = 3_600_000;
// How much later than its script the runner may receive the signal to end.
const SIGNAL_WAIT_MS = 1_000;
const MAX_MODULE_LOG_BYTES = 500;

const folder = jobFolder(process.argv[2] ?? '');
// A service gives its input to a runner on its own machine only.
const isOnCluster = process.argv[3] !== SEALED;
const stop = new AbortController();

let leftAt: number | undefined;

/** Whether the folder of all jobs is missing on a cluster: its file system was unmounted, and may come back. */
function isAway(): boolean {
  if (!isOnCluster || existsSync(dirname(folder.path))) {
    leftAt = undefined;
    return false;
  }
  leftAt ??= performance.now();
  return performance.now() - leftAt < MAX_AWAY_MS;
}

/**
 * A cancellation is a file rather than a signal, so that it survives restarts of both sides and works over a network. A missing
 * claim stops the job too: the service has ended it and deleted its files, or the job has done that.
 */
async function watchForCancel(): Promise<void> {
  while (!existsSync(folder.cancel) && (!isRemoved(folder.claim) || isAway())) {
    await sleep(CANCEL_POLL_MS, undefined, { ref: false });
  }
  stop.abort((existsSync(folder.cancel) ? 'cancelled' : 'removed') satisfies StopReason);
}

async function main(): Promise<void> {
  const input = isOnCluster ? undefined : parseRunnerInput(readFileSync(0, 'utf8'));
  const identity = processIdentity(process.pid) ?? 'unknown';
  if (!claimJob(folder, { pid: process.pid, identity })) return;
  let wasToldToEnd = false;
  const stopped = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      wasToldToEnd = true;
      stopped.resolve();
      stop.abort('stopped' satisfies StopReason);
    });
  }
  if (existsSync(folder.cancel)) stop.abort('cancelled' satisfies StopReason);
  else void watchForCancel();
  const secrets = input?.secrets ?? takeSecrets(folder);
  const output = new OutputLog(folder.output, maxLogBytes(), openRedactor(Object.values(secrets)));
  const isShared = isPersons(folder);
  if (isShared) await takeOver(folder);
  const module = process.argv[3] === WITHOUT_MODULE ? process.argv[4] : undefined;
  const outcome =
    module === undefined
      ? await runJob(folder, { output, secrets, tunnel: new JobTunnel(folder), seal: input?.seal }, stop.signal)
      : await withoutModule(module);
  if (isShared) handBack(folder);
  const at = Date.now();
  await output.closeWhenStored(stop.signal);
  // A cluster signals the processes of a job one after the other, so the script may get it first, and end with any status.
  if (input === undefined) await Promise.race([stopped.promise, sleep(SIGNAL_WAIT_MS)]);
  await report(sealed({ ...outcome, at, wasToldToEnd }, input?.seal));
}

/** Writes how the job ended. If the disk is full or away, this waits, because the job would be lost otherwise. */
async function report(exit: ExitMarker): Promise<void> {
  for (;;) {
    try {
      return writeMarker(folder.exit, exit);
    } catch (error) {
      if (!isDiskFull(error) && !isAway()) throw error;
      await sleep(DISK_POLL_MS);
    }
  }
}

/** Ignores errors in the job's folder, because running the job reports them. */
function maxLogBytes(): number {
  try {
    const spec = parseOwnJson<Partial<RunnerSpec>>(readFileSync(folder.spec, 'utf8'));
    // The limit for a job's files applies to its runner too. The end of the output and the runner's notes need the other half.
    const maxFileBytes = readConfinement(folder.confinement)?.limits.maxFileBytes ?? Number.POSITIVE_INFINITY;
    return Math.min(spec.maxLogBytes ?? DEFAULT_MAX_LOG_BYTES, Math.floor(maxFileBytes / 2));
  } catch {
    return DEFAULT_MAX_LOG_BYTES;
  }
}

/** False if the file is only unreachable for a moment, as on a network. */
function isRemoved(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return systemCode(error) === 'ENOENT';
  }
}

async function cleanUp(): Promise<void> {
  const { readClaim } = await import('../jobFiles/markers.ts'); // loads zod, which would delay the start of a job
  const claim = await readClaim(folder.claim);
  if (claim !== undefined && processIdentity(claim.pid) === claim.identity) return; // that runner is alive
  const jobId = basename(folder.path);
  const mark = jobProcessTag(jobId);
  await endProcesses({ group: undefined, mark, lockLimit: newLockLimit(mark) }, KILL_GRACE_MS);
  removeDebugFolder(jobId);
  if (isPersons(folder)) handBack(folder);
}

/** Passes the standard streams on to the job, after a byte that says that it lets someone in. */
async function enter(): Promise<void> {
  let job: Socket;
  try {
    job = await enterJob(folder);
  } catch {
    process.exitCode = NOT_ENTERED;
    return;
  }
  // Not the process's own, which is a terminal to Slurm, and would hold up the other direction while it is full.
  const output = createWriteStream('', { fd: 1 });
  output.write('\n');
  await Promise.race([pipeline(process.stdin, job), pipeline(job, output)]).catch(() => {});
  process.exit();
}

try {
  closeInheritedDescriptors();
  const task = { '--clean-up': cleanUp, [ENTER]: enter }[process.argv[3] ?? ''] ?? main;
  await task();
} catch (error) {
  process.stderr.write(`The job's runner failed: ${messageOf(error)}\n`);
  process.exitCode = 1;
}

/** The outcome of a job whose node cannot load a module: it has not started, and costs nothing. */
async function withoutModule(name: string): Promise<Omit<ExitMarker, 'at'>> {
  const node = thisNode();
  const words = printableLine(
    ((await readJobText(folder.moduleLog, MAX_MODULE_LOG_BYTES)) ?? '').trim().replaceAll(/\s+/g, ' '),
  );
  const why = words === '' ? `${node} has no command "module".` : `The node says: ${words}`;
  const detail = `The job could not start: the module ${name} is not available on ${node}. ${why}`;
  return { outcome: 'not-started', code: null, signal: null, detail, ranSeconds: 0 };
}
