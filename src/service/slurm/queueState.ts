import type { RunnerEnding } from '../executor/executor.ts';

/** A job as `squeue` or `sacct` tells of it. */
export interface ClusterJob {
  /** The number that the cluster gave it. Numbers can be given twice, so a job is known by its name. */
  readonly number: number;
  readonly name: string;
  /** Slurm's word (job_state in squeue(1)). */
  readonly state: string;
  readonly reason: string;
  readonly nodes: string;
  /** Of a cancelled job, the user id of whoever cancelled it, which only the cluster's accounts tell. */
  readonly cancelledBy?: number | undefined;
}

/** What a job left in its folder. */
export interface RunnerTraces {
  /** Whether a runner took the folder. */
  readonly hasStarted: boolean;
  /** What Slurm wrote into the job's own log, which has the cause where the state has not. */
  readonly words: string;
}

export type ClusterPhase = 'waiting' | 'running' | 'ended';

const WAITING = new Set('PENDING CONFIGURING REQUEUED REQUEUE_FED REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT'.split(' '));
const ENDED = new Set(
  'COMPLETED FAILED OUT_OF_MEMORY NODE_FAIL BOOT_FAIL LAUNCH_FAILED PREEMPTED REVOKED CANCELLED TIMEOUT DEADLINE'.split(
    ' ',
  ),
);
// The cluster takes such a job and never starts it, unless it is set up with EnforcePartLimits.
const NEVER_STARTS = /^(PartitionTimeLimit|PartitionConfig|PartitionNodeLimit|BadConstraints|AccountNotAllowed)$/;
// The node went away, which is no fault of the job.
const NODE_LOST = new Set(['NODE_FAIL', 'BOOT_FAIL', 'LAUNCH_FAILED']);
const NO_REASON = new Set(['', 'None', 'NonZeroExitCode']);

/** Where a job stands. A word that is not known is taken as running: its runner or the cluster will tell the end. */
export function phaseOf({ state }: ClusterJob): ClusterPhase {
  if (WAITING.has(state)) return 'waiting';
  return ENDED.has(state) ? 'ended' : 'running';
}

/** Why a waiting job will never start; undefined while it may. */
export function neverStarts({ state, reason }: ClusterJob): string | undefined {
  if (state !== 'PENDING' || !NEVER_STARTS.test(reason)) return undefined;
  return `The cluster would never start the job (${reason}): it asks for more than its partition gives. Lower the time limit or choose another machine class.`;
}

/**
 * Whether the cluster dropped a job on its way to a node, so that it can be submitted again: the node was lost, or a controller
 * that lost its memory gave a number again that is in use on a node, and cancelled the new job when it noticed. A person's cancel
 * leaves words in the job's log, or comes before there is a node.
 */
export function wasDropped({ state, nodes }: ClusterJob, { hasStarted, words }: RunnerTraces): boolean {
  if (hasStarted) return false;
  return NODE_LOST.has(state) || (state === 'CANCELLED' && nodes !== '' && words === '');
}

/** The sentence for a job that waits in the cluster. */
export function waitingReason({ state, reason }: ClusterJob): string {
  if (!NO_REASON.has(reason)) return `Waiting in the cluster: ${reason}.`;
  // Slurm names no reason until its scheduler has looked at the job for the first time.
  return state === 'PENDING' ? 'Waiting in the cluster.' : `Waiting in the cluster: ${state.toLowerCase()}.`;
}

/**
 * The end of a job that the cluster says is over: what the cluster did to it. What the cluster or its administrators took from the
 * job is not charged; a job that cancelled itself is, where that can be told.
 *
 * @param user the id of the user that jobs run as. Root is an administrator, whatever runs the service.
 */
export function endingOfClusterJob(
  { state, reason, nodes, cancelledBy }: ClusterJob,
  { hasStarted, words }: RunnerTraces,
  user: number | undefined,
): RunnerEnding {
  const cause = (of: Pick<RunnerEnding, 'state' | 'reason' | 'isCharged'>): RunnerEnding => ({
    ...of,
    reason: `${of.reason}${told}${of.isCharged ? '' : ' Nothing was charged.'}`,
    isCause: true,
  });
  const unreported = (sentence: string): RunnerEnding => ({
    state: 'failed',
    reason: `${sentence}${told}`,
    isCharged: true,
    isCause: false,
  });
  const where = nodes === '' ? 'its node' : nodes;
  const why = NO_REASON.has(reason) ? '' : ` (${reason})`;
  const told = words === '' ? '' : ` The cluster says: ${words}`;
  switch (state) {
    case 'CANCELLED': {
      const isOwn = cancelledBy !== undefined && cancelledBy !== 0 && cancelledBy === user;
      const who = isOwn ? 'in the cluster by its own user' : 'by the cluster or its administrators';
      return cause({ state: 'cancelled', reason: `The job was cancelled ${who}${why}.`, isCharged: isOwn });
    }
    case 'TIMEOUT':
    case 'DEADLINE':
      return cause({
        state: 'timed_out',
        reason: `The cluster ended the job at its time limit${why}.`,
        isCharged: true,
      });
    case 'OUT_OF_MEMORY': {
      const sentence = `The job ran out of memory on ${where}. Choose a machine class with more.`;
      return cause({ state: 'failed', reason: sentence, isCharged: true });
    }
    case 'NODE_FAIL':
    case 'BOOT_FAIL':
    case 'LAUNCH_FAILED':
    case 'PREEMPTED': {
      const named = reason === '' || reason === 'None' ? state : `${state}, ${reason}`;
      const sentence = `The cluster took ${where} away (${named}), which is no fault of the job: submit it again.`;
      return cause({ state: 'failed', reason: sentence, isCharged: false });
    }
    case 'COMPLETED':
    case 'FAILED':
      return unreported(
        hasStarted
          ? `The job was ended on ${where} before it could report${why}.`
          : `The job's runner could not be started on ${where}${why}.`,
      );
    default:
      return unreported(`The cluster ended the job: ${state}${why}.`);
  }
}
