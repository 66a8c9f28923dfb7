import type { RunnerEnding } from '../executor/executor.ts';

/** A job as `squeue` or `sacct` reports it. */
export interface ClusterJob {
  /** The cluster's number, which can be reused. Jobs are identified by name. */
  readonly number: number;
  readonly name: string;
  /** Slurm's word (job_state in squeue(1)). */
  readonly state: string;
  readonly reason: string;
  readonly nodes: string;
  /** When it started, or is expected to start, in milliseconds. */
  readonly startsAt?: number | undefined;
  /** The ID of the user who cancelled the job, which only the cluster's accounting knows. */
  readonly cancelledBy?: number | undefined;
}

/** What a job's runner left in its folder. */
export interface RunnerTraces {
  /** Whether a runner claimed the folder. */
  readonly hasStarted: boolean;
  /** What Slurm wrote to the job's own log, which may have the cause if the state does not. */
  readonly words: string;
}

export type ClusterPhase = 'waiting' | 'running' | 'ended';

const WAITING = new Set('PENDING CONFIGURING REQUEUED REQUEUE_FED REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT'.split(' '));
const ENDED = new Set(
  'COMPLETED FAILED OUT_OF_MEMORY NODE_FAIL BOOT_FAIL LAUNCH_FAILED PREEMPTED REVOKED CANCELLED TIMEOUT DEADLINE'.split(
    ' ',
  ),
);
// The cluster accepts such a job and never starts it, unless it is configured with EnforcePartLimits.
const NEVER_STARTS = /^(PartitionTimeLimit|PartitionConfig|PartitionNodeLimit|BadConstraints)$/;
// Slurm's short reasons, and the sentences that squeue prints in their place.
const NOT_ALLOWED = /^(AccountNotAllowed|QOSNotAllowed|(Job's (account|QOS)|User's group) not (known|permitted))/i;
// The node was lost, which is not the job's fault.
const NODE_LOST = new Set(['NODE_FAIL', 'BOOT_FAIL', 'LAUNCH_FAILED']);
const NO_REASON = new Set(['', 'None', 'NonZeroExitCode']);
const HELD = /^JobHeld/;
// What a node writes to the job's log when a cluster without cgroups stops a job for its memory.
const OUT_OF_MEMORY = /exceeded memory limit|oom[-_ ]kill/i;

/** An unknown state counts as running, because the job's runner or the cluster will report the end. */
export function phaseOf({ state }: ClusterJob): ClusterPhase {
  if (WAITING.has(state)) return 'waiting';
  return ENDED.has(state) ? 'ended' : 'running';
}

/** Why a waiting job will never start; undefined while it may. */
export function neverStarts({ state, reason }: ClusterJob): string | undefined {
  if (state !== 'PENDING') return undefined;
  if (NOT_ALLOWED.test(reason)) {
    return `The cluster would never start the job, because its partition does not accept it: ${reason}. Choose another machine class, or another account or quality of service of the cluster.`;
  }
  if (!NEVER_STARTS.test(reason)) return undefined;
  return `The cluster would never start the job (${reason}), because it requests more than its partition allows. Lower the time limit or choose another machine class.`;
}

/**
 * Whether the cluster dropped a job before it started on a node, so that it can be submitted again: the node was lost, or a controller
 * that lost its state reused a number that is in use on a node, and cancelled the new job when it noticed. A cancellation by a
 * person leaves a message in the job's log, or happens before the job has a node.
 */
export function wasDropped({ state, nodes }: ClusterJob, { hasStarted, words }: RunnerTraces): boolean {
  if (hasStarted) return false;
  return NODE_LOST.has(state) || (state === 'CANCELLED' && nodes !== '' && words === '');
}

/** Why a job waits in the cluster. @param expectation a sentence about its start; may be empty. */
export function waitingReason({ state, reason }: ClusterJob, expectation = ''): string {
  if (HELD.test(reason)) {
    return `Held in the cluster (${reason}). It can start once an administrator of the cluster has released it.`;
  }
  const more = expectation === '' ? '' : ` ${expectation}`;
  if (!NO_REASON.has(reason)) return `Waiting in the cluster: ${reason}.${more}`;
  // Slurm has no reason until its scheduler has considered the job for the first time.
  return state === 'PENDING' ? `Waiting in the cluster.${more}` : `Waiting in the cluster: ${state.toLowerCase()}.`;
}

/**
 * The ending of a job that is over according to the cluster. A job that the cluster or its administrators stopped is not charged; a
 * job that cancelled itself is, if that is known.
 *
 * @param user the ID of the user that jobs run as. Root counts as an administrator, even if the service runs as root.
 */
export function endingOfClusterJob(
  { state, reason, nodes, cancelledBy }: ClusterJob,
  { hasStarted, words }: RunnerTraces,
  user: number | undefined,
): RunnerEnding {
  const cause = (of: Pick<RunnerEnding, 'state' | 'reason' | 'isCharged'>): RunnerEnding => ({
    ...of,
    reason: `${of.reason}${quoted}${of.isCharged ? '' : ' Nothing was charged.'}`,
    isCause: true,
  });
  const unreported = (sentence: string): RunnerEnding => ({
    state: 'failed',
    reason: `${sentence}${quoted}`,
    isCharged: true,
    isCause: false,
  });
  const where = nodes === '' ? 'its node' : nodes;
  const why = NO_REASON.has(reason) ? '' : ` (${reason})`;
  const quoted = words === '' ? '' : ` The cluster says: ${words}`;
  const outOfMemory = (): RunnerEnding => {
    const sentence = `The job ran out of memory on ${where}. Choose a machine class with more memory.`;
    return cause({ state: 'failed', reason: sentence, isCharged: true });
  };
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
        reason: `The cluster stopped the job at its time limit${why}.`,
        isCharged: true,
      });
    case 'OUT_OF_MEMORY':
      return outOfMemory();
    case 'NODE_FAIL':
    case 'BOOT_FAIL':
    case 'LAUNCH_FAILED':
    case 'PREEMPTED': {
      const named = reason === '' || reason === 'None' ? state : `${state}, ${reason}`;
      const sentence = `The cluster took ${where} away (${named}), which is not the job's fault: submit it again.`;
      return cause({ state: 'failed', reason: sentence, isCharged: false });
    }
    case 'COMPLETED':
    case 'FAILED':
      if (OUT_OF_MEMORY.test(words)) return outOfMemory();
      return unreported(
        hasStarted
          ? `The job was stopped on ${where} before it could report${why}.`
          : `The job's runner could not be started on ${where}${why}.`,
      );
    default:
      return unreported(`The cluster stopped the job: ${state}${why}.`);
  }
}
