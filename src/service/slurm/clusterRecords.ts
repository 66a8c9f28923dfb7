import { printableText } from '../../core/text/printable.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { findJob, type JobName } from './clusterQueue.ts';
import type { ClusterJob } from './queueState.ts';
import { slurm } from './slurmCommand.ts';
import { clusterLog } from './batch/submission.ts';

const MAX_WORDS = 500;
const ACCOUNTED_DAYS = 60;

/** The job according to the cluster's accounting, after the queue has forgotten it; undefined without accounting. */
export async function accountOf({ name, user }: JobName): Promise<ClusterJob | undefined> {
  const format = 'JobIDRaw,State,Reason,NodeList,UID,Start,JobName';
  const since = `--starttime=now-${ACCOUNTED_DAYS}days`;
  try {
    const filters = [since, `--name=${name}`, `--user=${user}`];
    const job = findJob(await slurm('sacct', ['-n', '-X', '-P', ...filters, '-o', format]), { name, user });
    if (job === undefined) return undefined;
    const [state = '', , canceller] = job.state.split(' '); // "CANCELLED by 1000"
    return { ...job, state, ...(canceller !== undefined && { cancelledBy: Number(canceller) }) };
  } catch {
    return undefined; // most small clusters have no accounting
  }
}

/** Whether the cluster has put the job back into its queue, which its state alone does not show. */
export async function wasRequeued({ number }: ClusterJob): Promise<boolean> {
  const record = await slurm('scontrol', ['--oneliner', 'show', 'job', String(number)]).catch(() => '');
  return /\bRestarts=[1-9]/.test(record);
}

/** What Slurm wrote to the job's own log. */
export async function lastWords(folder: JobFolder): Promise<string> {
  const text = (await readJobText(clusterLog(folder), MAX_WORDS).catch(() => '')) ?? '';
  const lines = printableText(text).split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ');
}
