import { statfs } from 'node:fs/promises';
import * as z from 'zod';
import { JOB_STATES } from '../../remote/protocol/states.ts';
import { storeBytes, usageByAccount } from '../disk/diskUsage.ts';
import { filesFolderOf } from '../folders/filesFolder.ts';
import { JobFiles } from '../jobFiles/jobFiles.ts';
import { adminTime, operation, showAdminTime } from './operation.ts';
import { retentionSettings, type RetentionSettings } from '../config/configSections.ts';
import { surprisingDeletion } from '../disk/confirmRetention.ts';
import { DAY_MS, type PlanContext, planRetention } from '../disk/retentionPlan.ts';
import type { RetentionRecord } from '../store/jobs/retentionRecord.ts';

const accountDisk = z.object({
  account_id: z.string(),
  jobs: z.int(),
  results_bytes: z.int(),
  /** Of jobs that have not ended, or whose results could not be packed. */
  workspace_bytes: z.int(),
  oldest_ended_at: adminTime.nullable(),
});
const jobDisk = z.object({ job_id: z.string(), account_id: z.string(), state: z.enum(JOB_STATES), bytes: z.int() });

/** Days from now at which the preview is calculated, as if nothing was added meanwhile. */
const PREVIEW_DAYS = [0, 7, 30];

const amount = z.object({ jobs: z.int(), bytes: z.int() });

const retentionPreview = z.object({
  stored: amount,
  stored_logs: z.int(),
  /** What will have been deleted by then, by rule; 0 is the start. */
  plans: z.array(z.object({ in_days: z.int(), expired: amount, overflow: amount, logs: z.int() })),
  /** Why the start must be confirmed; undefined if it need not be. */
  surprise: z.string().optional(),
});

export type RetentionPreview = z.infer<typeof retentionPreview>;

export const diskOperations = {
  'disk.usage': operation({
    input: z.object({}),
    /** `jobs`: those whose files occupy the most. */
    output: z.object({
      free_bytes: z.int(),
      store_bytes: z.int(),
      accounts: z.array(accountDisk),
      jobs: z.array(jobDisk),
    }),
    async run({ store, data }) {
      const filesFolder = filesFolderOf(data);
      const { bavail, bsize } = await statfs(filesFolder);
      const usage = await usageByAccount(store, new JobFiles(filesFolder));
      const accounts = [...usage.accounts].map(([id, { jobs, resultsBytes, workspaceBytes, oldestAt }]) => ({
        account_id: id,
        jobs,
        results_bytes: resultsBytes,
        workspace_bytes: workspaceBytes,
        oldest_ended_at: showAdminTime(oldestAt ?? null),
      }));
      const total = (one: (typeof accounts)[number]): number => one.results_bytes + one.workspace_bytes;
      accounts.sort((a, b) => total(b) - total(a));
      const jobs = usage.largest.map(({ job: { id, account, state }, bytes }) => ({
        job_id: id,
        account_id: account,
        state,
        bytes,
      }));
      return { free_bytes: bavail * bsize, store_bytes: await storeBytes(data), accounts, jobs };
    },
  }),
  'disk.retention': operation({
    input: z.object({ settings: retentionSettings }),
    output: retentionPreview,
    run: ({ store: { expiry, retention }, data }, { settings }) =>
      previewRetention({ expiry, retention, files: new JobFiles(filesFolderOf(data)) }, settings),
  }),
};

/** Previews what a start with these settings would delete. */
export async function previewRetention(
  context: PlanContext & { readonly retention: Pick<RetentionRecord, 'get'> },
  settings: RetentionSettings,
): Promise<RetentionPreview> {
  const now = Date.now();
  const plans = [];
  for (const days of PREVIEW_DAYS) {
    plans.push({ in_days: days, ...(await planRetention(context, settings, now + days * DAY_MS)) });
  }
  const [{ stored, storedLogs } = { stored: { jobs: 0, bytes: 0 }, storedLogs: 0 }] = plans;
  const surprise = await surprisingDeletion(context, { retention: context.retention, settings, now });
  return {
    stored: { ...stored },
    stored_logs: storedLogs,
    plans: plans.map(({ in_days, expired, overflow, logs }) => ({
      in_days,
      expired: { ...expired },
      overflow: { ...overflow },
      logs,
    })),
    ...(surprise !== undefined && { surprise }),
  };
}
