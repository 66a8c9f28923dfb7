import * as z from 'zod';
import { retentionSettings, type RetentionSettings } from '../../config/sections.ts';
import { surprisingDeletion } from '../../disk/confirmRetention.ts';
import { DAY_MS, type PlanContext, planRetention } from '../../disk/retentionPlan.ts';
import { filesFolderOf } from '../../folders/filesFolder.ts';
import { JobFiles } from '../../jobFiles/jobFiles.ts';
import type { RetentionRecord } from '../../store/jobs/retentionRecord.ts';
import { operation } from './operation.ts';

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

export const retentionOperations = {
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
