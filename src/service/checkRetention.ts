import { formatBytes, formatCount } from '../core/text/format.ts';
import { retentionPreviewOf } from './admin/retentionPreview.ts';
import type { RetentionPreview } from './admin/operations/retentionOperations.ts';
import type { RetentionSettings } from './config/sections.ts';
import { type Check, problemOf } from './executor/executorKind.ts';

/** Checks what a start with these settings would delete, and previews what they delete in the days after it. */
export async function checkRetention(
  data: string,
  settings: RetentionSettings,
): Promise<{ readonly check: Check; readonly preview: RetentionPreview | undefined }> {
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
