import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { type RetentionSettings, retentionSettings } from '../config/configSections.ts';
import type { RetentionRecord } from '../store/jobs/retentionRecord.ts';
import { compareRetention, type PlanContext, type Stricter } from './retentionPlan.ts';

/** A start may delete this share of what the settings of the last start would have kept. */
const FREE_SHARE = 0.1;
const KEEP_ALL: RetentionSettings = retentionSettings.parse({});

export interface LastStart {
  readonly retention: Pick<RetentionRecord, 'get'>;
  readonly settings: RetentionSettings;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Why a start with these settings has to be confirmed: they would delete more than a tenth of the results or logs that the settings of the
 * last start would have kept until now. What those would have deleted too, for example after the service was stopped for long, does not
 * count. Without a record of the last start, everything stored counts as kept.
 *
 * @returns undefined if the start needs no confirmation.
 */
export async function surprisingDeletion(
  context: PlanContext,
  { retention, settings, now }: LastStart,
): Promise<string | undefined> {
  const before = lastSettings(retention.get());
  if (!isStricter(before, settings)) return undefined;
  const found = await compareRetention(context, { before, after: settings, now });
  const { results, kept, logs, keptLogs } = found;
  const isSurprise =
    results.jobs > FREE_SHARE * kept.jobs || results.bytes > FREE_SHARE * kept.bytes || logs > FREE_SHARE * keptLogs;
  return isSurprise ? describe(found, before, settings) : undefined;
}

/**
 * Records the settings of this start.
 *
 * @returns what was confirmed; undefined if nothing had to be.
 * @throws AppError `refused` for a surprising deletion that is not confirmed; then the settings of the last start stay recorded.
 */
export async function confirmRetention(
  context: PlanContext,
  {
    isConfirmed,
    log,
    retention,
    ...start
  }: LastStart & { readonly retention: RetentionRecord; readonly isConfirmed: boolean; readonly log: Logger },
): Promise<string | undefined> {
  const surprise = await surprisingDeletion(context, { ...start, retention });
  if (surprise !== undefined && !isConfirmed) {
    const message = `The service was not started, and nothing was deleted. ${surprise} To see what would be deleted and when, add --check. To keep it, change [retention]. To delete it, start once with --confirm-retention.`;
    throw new AppError('refused', message);
  }
  if (surprise !== undefined) log.warn('a deletion was confirmed', { deletion: surprise });
  else if (isConfirmed) {
    log.warn(
      '--confirm-retention is not needed. Remove it, because with it a later change of [retention] deletes without asking',
    );
  }
  retention.set(JSON.stringify(start.settings));
  return surprise;
}

/** A record that cannot be read, such as one of a later version, counts as missing. */
function lastSettings(recorded: string | undefined): RetentionSettings {
  if (recorded === undefined) return KEEP_ALL;
  const parsed = retentionSettings.safeParse(JSON.parse(recorded));
  return parsed.success ? parsed.data : KEEP_ALL;
}

function isStricter(before: RetentionSettings, after: RetentionSettings): boolean {
  const limits = ({ days, results_days: results = days, max_total_gb: total }: RetentionSettings): readonly number[] =>
    [days, results, total].map((limit) => limit ?? Number.POSITIVE_INFINITY);
  const earlier = limits(before);
  return limits(after).some((limit, index) => limit < (earlier[index] ?? 0));
}

function describe(
  { results, kept, logs, keptLogs }: Stricter,
  before: RetentionSettings,
  after: RetentionSettings,
): string {
  const ofResults = `the results of ${results.jobs.toLocaleString('en-US')} of ${formatCount(kept.jobs, 'job')} (${formatBytes(results.bytes)} of ${formatBytes(kept.bytes)})`;
  const ofLogs = `the logs of ${logs.toLocaleString('en-US')} of ${formatCount(keptLogs, 'job')}`;
  const parts = [...(results.jobs > 0 ? [ofResults] : []), ...(logs > 0 ? [ofLogs] : [])];
  return `With ${show(after)} it would delete ${parts.join(' and ')}, which the settings of the last start (${show(before)}) keep.`;
}

function show(settings: RetentionSettings): string {
  const set = (['days', 'results_days', 'max_total_gb'] as const).filter((name) => settings[name] !== undefined);
  return set.length === 0 ? 'no limits' : set.map((name) => `${name} = ${settings[name]}`).join(', ');
}
