import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { formatBytes, formatCount } from '../core/text/format.ts';
import { previewRetention, type RetentionPreview } from './admin/diskOperations.ts';
import type { RetentionSettings } from './config/configSections.ts';
import { type ExecutorCheck, problemOf } from './executor/executorKind.ts';
import { filesFolderOf } from './folders/filesFolder.ts';
import { JobFiles } from './jobFiles/jobFiles.ts';
import { ExpiryTable } from './store/jobs/expiry.ts';
import { RetentionRecord } from './store/jobs/retentionRecord.ts';
import { openAdmin } from './admin/adminClient.ts';

/** Checks what a start with these settings would delete, and previews what they delete in the days after it. */
export async function checkRetention(
  data: string,
  settings: RetentionSettings,
): Promise<{ readonly check: ExecutorCheck; readonly preview: RetentionPreview | undefined }> {
  let preview: RetentionPreview | undefined;
  const problem = await problemOf(async () => (preview = await retentionPreviewOf(data, settings)));
  if (problem !== undefined) {
    return { check: { what: 'what [retention] would delete is known', problem }, preview };
  }
  const warning =
    preview?.surprise === undefined
      ? undefined
      : `${preview.surprise} The start refuses to do that without --confirm-retention.`;
  return { check: { what: describe(preview, settings), problem, ...(warning !== undefined && { warning }) }, preview };
}

function describe(preview: RetentionPreview | undefined, settings: RetentionSettings): string {
  if (preview === undefined)
    return '[retention] has nothing to preview: the data folder has no store yet, or that of a version without retention';
  const { stored, stored_logs: logs, plans } = preview;
  const parts = plans.map((plan) => {
    const when = plan.in_days === 0 ? 'at the next start' : `within ${plan.in_days} days`;
    return `${when} ${describePlan(plan, settings)}`;
  });
  return `[retention] deletes, of the results of ${formatCount(stored.jobs, 'job')} (${formatBytes(stored.bytes)}) and ${formatCount(logs, 'log')}: ${parts.join('; ')}`;
}

function describePlan(
  { expired, overflow, logs }: RetentionPreview['plans'][number],
  { days, results_days: resultsDays = days, max_total_gb: maxGb }: RetentionSettings,
): string {
  const results = ({ jobs, bytes }: { jobs: number; bytes: number }): string =>
    `the results of ${formatCount(jobs, 'job')} (${formatBytes(bytes)})`;
  const parts = [
    ...(expired.jobs > 0 ? [`${results(expired)} older than ${resultsDays} days`] : []),
    ...(overflow.jobs > 0 ? [`${results(overflow)} beyond max_total_gb = ${maxGb}`] : []),
    ...(logs > 0 ? [`${formatCount(logs, 'log')} older than ${days} days`] : []),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

/**
 * Previews what a start with these settings would delete, according to the service that runs on a data folder or, if none does, its
 * store, which is not upgraded.
 *
 * @returns undefined without a store, or if it is older than retention.
 * @throws AppError of `filesFolderOf` and `openAdmin`.
 */
async function retentionPreviewOf(data: string, settings: RetentionSettings): Promise<RetentionPreview | undefined> {
  const path = join(data, 'service.db');
  if (!existsSync(path)) return undefined;
  const database = openUnlocked(path);
  if (database === undefined) {
    using admin = await openAdmin(data, { mayCreate: false });
    return await admin.call('disk.retention', { settings });
  }
  try {
    const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?");
    if (table.get('accounts') === undefined) return undefined;
    const retention = table.get('retention') === undefined ? { get: () => undefined } : new RetentionRecord(database);
    const files = new JobFiles(filesFolderOf(data));
    return await previewRetention({ expiry: new ExpiryTable(database), retention, files }, settings);
  } finally {
    database.close();
  }
}

/** Opens a store to read it; undefined if a service has locked it. */
function openUnlocked(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch {
    database.close();
    return undefined;
  }
}
