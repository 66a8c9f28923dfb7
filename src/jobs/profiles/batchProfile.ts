import { basename, extname } from 'node:path';
import { type BatchJob, readBatchJob, type Remark, startsIn } from '../batch/batchJob.ts';
import { accountLists } from '../../remote/protocol/jobTerms.ts';
import { quotePath } from '../selection/scriptSuggestions.ts';
import { combinations, MOST_SWEEP_JOBS } from './matrix.ts';
import type { ProfileJob } from './profileJob.ts';

const TASK = 'SLURM_ARRAY_TASK_ID';

export interface BatchSource {
  /** Of the script, relative to the folder that is sent, with `/`. */
  readonly path: string;
  /** The text of the script, at least its beginning. */
  readonly text: string;
  /** Absolute path of the folder that is sent. */
  readonly folder: string;
  /** The command line, if the user gave one. */
  readonly script?: string | undefined;
  /** The command that runs it in place of the command line. */
  readonly command?: readonly string[] | undefined;
}

/** The job that a batch script describes, in the form of a profile. An array becomes a sweep, with one job for each task. */
export function batchProfile({ path, text, folder, script = quotePath(path), command }: BatchSource): ProfileJob {
  const job = readBatchJob(text);
  const { array, request } = job;
  const tasks = array === undefined || array.tasks.length > MOST_SWEEP_JOBS ? undefined : array.tasks;
  const remarks = [...job.remarks, ...chdirRemarks(job, folder), ...arrayRemarks(job)];
  const environment = { ...slurmVariables(job, text), ...job.environment };
  const names = [...Object.keys(environment), ...(tasks === undefined ? [] : [TASK])];
  return {
    name: nameOf(job, path),
    service: undefined,
    variables: [],
    include: [],
    ...accountLists(() => []),
    environment: names.toSorted(),
    combinations: combinations(tasks === undefined ? {} : { [TASK]: [...tasks] }),
    limits: { concurrency: array?.concurrency, maxCost: undefined },
    terms: ({ parameters = {} }) => {
      const env = { ...environment };
      for (const [name, value] of Object.entries(parameters)) env[name] = String(value);
      return {
        ...job.terms,
        ...(command === undefined ? { script } : { command }),
        ...(Object.keys(env).length > 0 && { venv: { env } }),
        batch: { source: path, remarks, request },
      };
    },
  };
}

/** The name of the sweep, which is also that of the folder for its results. */
function nameOf({ title }: BatchJob, path: string): string {
  const name = title ?? basename(path, extname(path));
  return (
    name
      .replaceAll(/[^\w.-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 64) || 'array'
  );
}

function chdirRemarks({ chdir }: BatchJob, folder: string): Remark[] {
  if (chdir === undefined || startsIn(chdir, folder)) return [];
  const { line, option } = chdir;
  const reason = `A job starts in the folder that is sent, ${folder}. Send another folder, or change it in the script.`;
  return [{ line, option, reason }];
}

function arrayRemarks({ array }: BatchJob): Remark[] {
  if (array === undefined || array.tasks.length <= MOST_SWEEP_JOBS) return [];
  const { line, option, tasks } = array;
  const count = tasks.length.toLocaleString('en-US');
  const reason = `It has ${count} tasks, and a sweep has at most ${MOST_SWEEP_JOBS} jobs. Submit it in parts.`;
  return [{ line, option, reason, isFatal: true }];
}

/** Variables that Slurm sets for every job, as far as they are known and the script reads them. */
function slurmVariables(
  { title, array, cpusPerTask, tasks, request: { cpus } }: BatchJob,
  text: string,
): Record<string, string> {
  const job = {
    // A job starts there.
    SLURM_SUBMIT_DIR: '.',
    SLURM_JOB_NAME: title,
    SLURM_CPUS_PER_TASK: cpusPerTask,
    SLURM_NTASKS: tasks,
    SLURM_CPUS_ON_NODE: cpus,
    SLURM_ARRAY_TASK_COUNT: array?.tasks.length,
    SLURM_ARRAY_TASK_MIN: array && Math.min(...array.tasks),
    SLURM_ARRAY_TASK_MAX: array && Math.max(...array.tasks),
  };
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(job)) {
    if (value !== undefined && text.includes(name)) read[name] = String(value);
  }
  return read;
}
