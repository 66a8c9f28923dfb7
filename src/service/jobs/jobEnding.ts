import { constants } from 'node:os';
import { assertNever } from '../../core/errors.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import type { ExitMarker } from '../runner/jobFolder.ts';
import type { Ending, FinalState, StoredJob } from '../store/jobs.ts';

/** How a job ended, from what its runner reported. The charge is for the seconds that the script ran, within the hold. */
export function endingOf(
  job: StoredJob,
  exit: ExitMarker,
  { machineClasses, isCancelled }: { machineClasses: MachineClasses; isCancelled: boolean },
): Ending {
  const isStoppedByUs = isCancelled && (exit.outcome === 'stopped' || endedBySignal(exit));
  const { state, reason } = judge(isStoppedByUs ? { ...exit, outcome: 'cancelled' } : exit);
  const charged = Math.min(job.hold, machineClasses.priceOf(job.machineClass, exit.ranSeconds));
  return { state, reason, finishedAt: exit.at, exitCode: exit.code, charged };
}

/**
 * Whether a signal ended the script. A cluster that was asked to cancel sends it to all processes of a job, so the script can end
 * before its runner knows why; a shell tells it as 128 and the signal's number.
 */
function endedBySignal({ outcome, code, signal }: ExitMarker): boolean {
  const codes = [constants.signals.SIGTERM, constants.signals.SIGKILL].map((number) => 128 + number);
  return outcome === 'exited' && (signal !== null || (code !== null && codes.includes(code)));
}

/** The ending of a job whose runner is gone without a report: nothing is charged for what nobody knows. */
export function unreportedEnding(facts: { hasStarted: boolean; isCancelled: boolean }, at: number): Ending {
  return { ...judgeUnreported(facts), finishedAt: at, exitCode: null, charged: 0 };
}

function judgeUnreported({ hasStarted, isCancelled }: { hasStarted: boolean; isCancelled: boolean }) {
  if (hasStarted) {
    const reason =
      "The job's runner was killed or the machine was restarted, so how the script ended is not known. Its output up to then is kept; nothing was charged.";
    return { state: 'lost' as const, reason };
  }
  if (isCancelled) return { state: 'cancelled' as const, reason: 'The job was cancelled before it started.' };
  return { state: 'failed' as const, reason: "The job's runner was killed before the script was started." };
}

/** The reason is null where state and exit code say it all. */
function judge({ outcome, code, signal, detail }: ExitMarker): { state: FinalState; reason: string | null } {
  switch (outcome) {
    case 'timed_out':
      return { state: 'timed_out', reason: null };
    case 'cancelled':
      return { state: 'cancelled', reason: null };
    case 'stopped':
      return { state: 'failed', reason: "The job's runner was told to end from outside the service." };
    case 'not-started':
    case 'over_limit':
      return { state: 'failed', reason: detail };
    case 'exited':
      return { state: code === 0 ? 'succeeded' : 'failed', reason: signal === null ? null : killedBy(signal) };
    default:
      return assertNever(outcome);
  }
}

const SIGNAL_HINTS: Readonly<Record<string, string>> = {
  SIGKILL: ' The system does this when memory runs out.',
  SIGXFSZ: ' It wrote a larger file than jobs may have here.',
};

function killedBy(signal: string): string {
  return `The script was ended by ${signal}.${SIGNAL_HINTS[signal] ?? ''}`;
}
