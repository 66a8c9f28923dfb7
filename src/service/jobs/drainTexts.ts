import type { Drain } from '../store/jobs/drainRecord.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';

/** Why a submission is refused while the service is drained. */
export function drainRefusal({ reason }: Drain): string {
  return `The operator of this service has drained it${because(reason)} It accepts no jobs until it is resumed. Running jobs finish, and waiting jobs keep their place. Try again later.`;
}

/** Why nobody is connected to jobs while the service is drained. */
export function drainedTunnels({ reason }: Drain): string {
  return `The operator has drained this service${because(reason)}`;
}

/** The job with the reason why it waits, if that is the drain. A job that the cluster has can still start there. */
export function withDrainReason(job: StoredJob, drain: Drain | undefined): StoredJob {
  if (drain === undefined || job.state !== 'queued' || job.executorId !== null) return job;
  const reason = `The operator of the service has drained it${because(drain.reason)} The job keeps its place, and starts after the service is resumed.`;
  return { ...job, reason };
}

/** The end of a sentence. */
function because(reason: string | null): string {
  if (reason === null) return '.';
  return `: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
}
