import { constants } from 'node:os';
import { assertNever } from '../../core/errors.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import type { VerifiedTimes } from './verifiedTime.ts';
import type { RunnerEnding } from '../executor/executor.ts';
import type { ExitMarker } from '../jobFiles/markers.ts';
import type { FinalState } from '../../remote/protocol/states.ts';
import type { Ending, StoredJob } from '../store/jobs/jobTable.ts';

/**
 * The ending of a job according to its runner's report. The charge covers the seconds that the script ran, up to the hold. A script
 * that used all of its time has reached the limit, whatever its exit code, also if it was stopped from outside then.
 */
export function endingOf(
  job: StoredJob,
  exit: ExitMarker,
  { machineClasses, isCancelled }: { machineClasses: MachineClasses; isCancelled: boolean },
): Ending {
  const isStopped = exit.outcome === 'stopped' || exit.outcome === 'removed' || endedBySignal(exit);
  const isStoppedByUs = isCancelled && isStopped;
  const isAtLimit = (exit.outcome === 'exited' || exit.outcome === 'stopped') && exit.ranSeconds >= job.maxRuntime;
  const outcome = isStoppedByUs ? 'cancelled' : isAtLimit ? 'timed_out' : exit.outcome;
  const { state, reason } = judge({ ...exit, outcome }, job);
  const charged = Math.min(job.hold, machineClasses.priceOf(job.machineClass, exit.ranSeconds, exit.frozenSeconds));
  // The script then exited with 0 because of SIGTERM.
  const exitCode = state === 'timed_out' && exit.code === 0 ? null : exit.code;
  return { state, reason, finishedAt: exit.at, exitCode, charged };
}

/** Whether something outside the job may have ended it, so that the executor is asked before this report counts. */
export function mayHaveBeenEnded(exit: ExitMarker): boolean {
  // These were decided before a signal from outside reached the runner.
  if (exit.outcome === 'timed_out' || exit.outcome === 'over_limit') return false;
  return exit.outcome === 'stopped' || exit.wasToldToEnd === true || endedBySignal(exit);
}

/** Replaces the ending of a job with the executor's explanation, if it has one. The exit code is then not the script's own doing. */
export function explainedEnding(own: Ending, explained: RunnerEnding | undefined): Ending {
  if (explained === undefined) return own;
  const { state, reason, isCharged } = explained;
  return { ...own, state, reason, exitCode: null, charged: isCharged ? own.charged : 0 };
}

/**
 * Whether a signal ended the script. A cluster that cancels a job signals all its processes, so the script can end before its runner
 * knows why. A shell reports a signal as 128 plus its number.
 */
function endedBySignal({ outcome, code, signal }: ExitMarker): boolean {
  const codes = [constants.signals.SIGTERM, constants.signals.SIGKILL].map((number) => 128 + number);
  return outcome === 'exited' && (signal !== null || (code !== null && codes.includes(code)));
}

/**
 * The ending of a job whose results could not be packed. It has failed even if its script succeeded. The exit code stays the
 * script's, and its run time is charged as for other failed jobs.
 *
 * @param problem what happened to the results, as in "could not be packed: …".
 */
export function endingWithoutResults({ command }: Pick<StoredJob, 'command'>, ending: Ending, problem: string): Ending {
  const sentence = `The results ${problem}`;
  if (ending.state === 'succeeded') {
    // The problem comes first, because a list shows only the beginning.
    return {
      ...ending,
      state: 'failed',
      reason: `${sentence} The ${programWord(command)} itself exited with status 0.`,
    };
  }
  return { ...ending, reason: ending.reason === null ? sentence : `${ending.reason} ${sentence}` };
}

function programWord(command: StoredJob['command']): 'script' | 'command' {
  return command === null ? 'script' : 'command';
}

/** The ending of a job whose runner is gone without a report. The verified times are charged, up to the hold. */
export function unreportedEnding(
  job: StoredJob,
  { machineClasses, isCancelled, verified }: UnreportedFacts,
  at: number,
): Ending {
  const price = machineClasses.priceOf(job.machineClass, verified.ranSeconds, verified.frozenSeconds);
  const charged = Math.min(job.hold, price);
  return { ...judgeUnreported(job.startedAt !== null, isCancelled), finishedAt: at, exitCode: null, charged };
}

/** The ending of a job that was cancelled before it had a runner. */
export function cancelledUnstarted(at: number): Ending {
  return { ...judgeUnreported(false, true), finishedAt: at, exitCode: null, charged: 0 };
}

/** The ending of a job that has only packed results left: it had ended in a store that an earlier copy has replaced. */
export function endedInLaterStore(at: number): Ending {
  const reason =
    'An operator has replaced the database with an earlier copy, in which this job had not ended. Its outcome and output are no longer known. Its results are kept, and nothing was charged.';
  return { state: 'lost', reason, finishedAt: at, exitCode: null, charged: 0 };
}

interface UnreportedFacts {
  readonly machineClasses: MachineClasses;
  readonly isCancelled: boolean;
  readonly verified: VerifiedTimes;
}

function judgeUnreported(hasStarted: boolean, isCancelled: boolean): Pick<Ending, 'state' | 'reason'> {
  if (hasStarted) {
    const reason =
      "The job's runner was killed or the machine was restarted, so the outcome of the script is not known. Its output until then is stored, and the time until the runner's last sign of life was charged.";
    return { state: 'lost', reason };
  }
  if (isCancelled) return { state: 'cancelled', reason: 'The job was cancelled before it started.' };
  return { state: 'failed', reason: "The job's runner was killed before the script was started." };
}

/** The reason is null if state and exit code are sufficient. */
function judge(
  { outcome, code, signal, detail }: ExitMarker,
  job: Pick<StoredJob, 'command'>,
): { state: FinalState; reason: string | null } {
  switch (outcome) {
    case 'timed_out':
      return { state: 'timed_out', reason: null };
    case 'cancelled':
      return { state: 'cancelled', reason: null };
    case 'stopped':
      return { state: 'failed', reason: "The job's runner was stopped from outside the service." };
    case 'removed':
      return { state: 'failed', reason: 'The files of the job were removed while it ran.' };
    case 'not-started':
    case 'over_limit':
      return { state: 'failed', reason: detail };
    case 'exited':
      return { state: code === 0 ? 'succeeded' : 'failed', reason: signal === null ? null : killedBy(signal, job) };
    default:
      return assertNever(outcome);
  }
}

const SIGNAL_HINTS: Readonly<Record<string, string>> = {
  SIGKILL: ' The system does this if memory runs out.',
  SIGXFSZ: ' It wrote a file that is larger than this service allows.',
};

function killedBy(signal: string, { command }: Pick<StoredJob, 'command'>): string {
  return `The ${programWord(command)} was stopped by ${signal}.${SIGNAL_HINTS[signal] ?? ''}`;
}
