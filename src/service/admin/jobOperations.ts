import { existsSync } from 'node:fs';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { folderBytes } from '../disk/folderBytes.ts';
import { job, type UsageEventData } from '../../remote/protocol/schemas.ts';
import { JOB_STATES } from '../../remote/protocol/states.ts';
import { filesFolderOf } from '../folders/filesFolder.ts';
import { showJob } from '../http/jobRoutes.ts';
import { askForEnd } from '../jobFiles/jobFolder.ts';
import { JOB_ID, JobFiles } from '../jobFiles/jobFiles.ts';
import { readClaim } from '../jobFiles/markers.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import { line } from './accountOperations.ts';
import { adminTime, type AuditTarget, operation, showAdminTime } from './operation.ts';

const MAX_JOBS = 1_000;
const DISK_TIMEOUT_MS = 3_000;

/** A job as its account sees it, with what only operators see. */
const adminJob = job.extend({
  account_id: z.string(),
  /** The API key of the submission; null for the service's own. */
  key_id: z.string().nullable(),
  /** By which its executor's own tools know it, such as Slurm's job number. */
  executor_id: z.string().nullable(),
  /** The reason that its account sees if an operator cancelled it. */
  cancel_reason: z.string().nullable(),
});
export type AdminJob = z.infer<typeof adminJob>;

const jobUsage = z.object({
  /** Mean cores in use. */
  cpu_cores: z.number().nullable(),
  /** Mean threads that were ready to run and had no core. */
  cpu_waiting: z.number().nullable(),
  /** The highest. */
  memory_bytes: z.number().nullable(),
  gpus: z.number().nullable(),
});
export type JobUsage = z.infer<typeof jobUsage>;

const jobDetails = adminJob.extend({
  account_name: z.string(),
  /** The process of its runner on the machine where it runs; null before the start and after the end. */
  runner_pid: z.int().nullable(),
  /** The folder with its files; null once they are deleted. */
  folder: z.string().nullable(),
  files_removed_at: adminTime.nullable(),
  /** Bytes of its files on the disk now; 0 if they could not be measured in a few seconds. */
  disk_bytes: z.number(),
  /** What it was measured to use; null before the first report, and where the machine measures nothing. */
  usage: jobUsage.nullable(),
  /** Who is connected to it now. */
  connections: z.array(
    z.object({
      account_id: z.string(),
      /** Null for the service's own key. */
      key_id: z.string().nullable(),
      /** As it names itself. */
      client: z.string().nullable(),
      since: adminTime,
      sent_bytes: z.number(),
      received_bytes: z.number(),
    }),
  ),
});
export type AdminJobDetails = z.infer<typeof jobDetails>;

const jobId = z.object({ job_id: z.string() });

const jobAudit = {
  target: ({ job_id: id }: z.output<typeof jobId>, output?: AdminJob) => ({
    job_id: id,
    ...(output && { account_id: output.account_id }),
  }),
  state: (store: Store, { job_id: id = '' }: AuditTarget) => showAdminJob(findJob(store, id)),
};

export const jobOperations = {
  'jobs.list': operation({
    input: z.object({
      account_id: z.string().optional(),
      state: z.enum(JOB_STATES).optional(),
      project: z.string().optional(),
      machine_class: z.string().optional(),
      since: adminTime.optional(),
      /** Only jobs that are older than this one: the `next` of an earlier response. */
      before: z.string().optional(),
      limit: z.int().min(1).max(MAX_JOBS).default(50),
    }),
    /** Newest first. `next` is the last of these jobs if there are more. */
    output: z.object({ jobs: z.array(adminJob), next: z.string().nullable() }),
    async run({ store }, { account_id: account, state, project, machine_class: machineClass, since, before, limit }) {
      if (account !== undefined) store.accounts.get(account);
      const filter = {
        account,
        state,
        project,
        machineClass,
        since: since === undefined ? undefined : Date.parse(since),
      };
      const start = before === undefined ? undefined : findJob(store, before);
      const found = await store.jobSearch.find(filter, { limit: limit + 1, before: start });
      const jobs = found.slice(0, limit).map(showAdminJob);
      return { jobs, next: found.length > limit ? (jobs.at(-1)?.job_id ?? null) : null };
    },
  }),
  'jobs.show': operation({
    input: jobId,
    output: jobDetails,
    async run({ store, data, tunnels = () => [] }, { job_id: id }) {
      const storedJob = findJob(store, id);
      const folder = new JobFiles(filesFolderOf(data)).folder(storedJob.id);
      // A job that is not isolated can write this file.
      const claim = storedJob.finishedAt === null ? await readClaim(folder.claim).catch(() => undefined) : undefined;
      const { filesRemovedAt } = storedJob;
      return {
        ...showAdminJob(storedJob),
        account_name: store.accounts.get(storedJob.account).name,
        runner_pid: claim?.pid ?? null,
        folder: existsSync(folder.path) ? folder.path : null,
        files_removed_at: showAdminTime(filesRemovedAt),
        disk_bytes: (await folderBytes([folder.path], { timeoutMs: DISK_TIMEOUT_MS })).get(folder.path) ?? 0,
        usage: usageOf(store.events.usage(storedJob.number), storedJob.startedAt),
        connections: tunnels(id).map(({ account, key, client, since, sent, received }) => ({
          account_id: account,
          key_id: key,
          client,
          since: showAdminTime(since),
          sent_bytes: sent,
          received_bytes: received,
        })),
      };
    },
  }),
  /** Does nothing to a job that has ended. */
  'jobs.cancel': operation({
    input: jobId.extend({ reason: line.optional() }),
    output: adminJob,
    audit: jobAudit,
    run({ store }, { job_id: id, reason }) {
      const { finishedAt } = findJob(store, id);
      // The next start repeats what a crash after this prevents.
      if (finishedAt === null) store.jobs.setCancelReason(id, cancelSentence(reason));
      return showAdminJob(findJob(store, id));
    },
    async afterwards({ store, data, cancel = (job) => stopRunner(data, job) }, { job_id: id }) {
      const storedJob = findJob(store, id);
      if (storedJob.finishedAt === null) await cancel(storedJob);
      return showAdminJob(findJob(store, id));
    },
  }),
};

/** Asks the runner of a job to stop it while no service runs. Without a runner, the next start ends the job. */
async function stopRunner(data: string, { id }: StoredJob): Promise<void> {
  const folder = new JobFiles(filesFolderOf(data)).folder(id);
  if (existsSync(folder.path)) askForEnd(folder);
}

/** @param startedAt milliseconds since 1970. */
function usageOf(reports: readonly UsageEventData[], startedAt: number | null): JobUsage | null {
  const [first] = reports;
  if (first === undefined) return null;
  const mean = (name: 'cpu_cores' | 'cpu_waiting' | 'gpus'): number | null => {
    let [sum, seconds, before] = [0, 0, startedAt ?? Date.parse(first.at)];
    for (const { at, [name]: value } of reports) {
      const time = Date.parse(at);
      // A job that is not isolated can write reports with any time.
      if (value === undefined || !(time >= before)) continue;
      const span = time - before;
      before = time;
      sum += value * span;
      seconds += span;
    }
    return seconds > 0 ? sum / seconds : (first[name] ?? null);
  };
  const memory = reports.flatMap(({ memory_bytes: bytes }) => (bytes === undefined ? [] : [bytes]));
  return {
    cpu_cores: mean('cpu_cores'),
    cpu_waiting: mean('cpu_waiting'),
    memory_bytes: memory.length === 0 ? null : Math.max(...memory),
    gpus: mean('gpus'),
  };
}

function cancelSentence(reason = ''): string {
  const why = reason.trim();
  const sentence = `An operator of the service cancelled the job${why === '' ? '' : `: ${why}`}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** @throws AppError `missing`. */
function findJob(store: Store, id: string): StoredJob {
  const found = JOB_ID.test(id) ? store.jobs.get(id) : undefined;
  if (found !== undefined) return found;
  throw new AppError('missing', `Job "${id.slice(0, 64)}" does not exist. List jobs with:  farwharf admin jobs`);
}

function showAdminJob(storedJob: StoredJob): AdminJob {
  return {
    ...showJob(storedJob),
    account_id: storedJob.account,
    key_id: storedJob.keyId,
    executor_id: storedJob.executorId,
    cancel_reason: storedJob.cancelReason,
  };
}
