import * as l10n from '@vscode/l10n';
import { formatCredits, formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { stateWord } from '../../jobs/ledger/jobIcon.ts';
import { elapsedSeconds, isOver, isUnpriced, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Series } from '../../jobs/metrics/series.ts';
import { costSoFar, describeUsed, usedHours } from '../../jobs/plan/estimate.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import { awaitedResults } from '../../jobs/sweeps/awaitedResults.ts';
import { countJobs, describeCounts } from '../../jobs/sweeps/sweepProgress.ts';
import { metricNames, sweepRows } from '../../jobs/sweeps/sweepTable.ts';
import { describeLastSeen, describeLostService, type LostContact, lostOfSweep } from '../jobs/store/lostContacts.ts';
import type { ToSweepPage } from '../../webview/sweepPage/sweepPageMessages.ts';

const MAX_METRICS = 12;
// Redrawn each second.
const MAX_POINTS = 20_000;

/** What the page of a sweep shows besides its jobs. */
export interface SweepContext {
  /** The metric of the plot; the first one if there is no such metric. */
  readonly metric: string | undefined;
  readonly isSending: boolean;
  /** Set for a job while its service cannot be asked. */
  readonly lostOf: (id: string) => LostContact | undefined;
  /** Milliseconds. */
  readonly now: number;
}

export function sweepView(
  sweep: Sweep,
  records: readonly JobRecord[],
  metricsOf: (id: string) => ReadonlyMap<string, Series>,
  { metric: wanted, isSending, lostOf, now: today }: SweepContext,
): ToSweepPage {
  const rows = sweepRows(sweep, records, metricsOf);
  const metrics = metricNames(rows).slice(0, MAX_METRICS);
  const metric = metrics.find((name) => name === wanted) ?? metrics[0] ?? null;
  const lost = lostOfSweep(records, lostOf);
  const now = lost?.since ?? today;
  const counts = countJobs(sweep.drafts.length, records, now);
  const done = describeCounts(counts);
  const spent = sweep.maxCost === null ? done : l10n.t('{0} of at most {1}', done, formatCredits(sweep.maxCost));
  const cancelled = sweep.isCancelled ? [l10n.t('cancelled')] : [];
  const summary = [spent, ...cancelled, ...(lost === undefined ? [] : [describeLostService(lost)])].join(' · ');
  const most = Math.max(2, Math.floor(MAX_POINTS / rows.length));
  return {
    type: 'sweep',
    title: printableLine(sweep.name),
    summary: printableLine(summary),
    parameters: Object.keys(rows[0]?.parameters ?? {}).map(printableLine),
    metrics,
    metric,
    costTitle: [...sweep.drafts, ...records].some(isUnpriced) ? l10n.t('Cost') : l10n.t('Credits'),
    jobs: rows.map(({ index, parameters, record, metrics: of }) => ({
      index,
      parameters: Object.values(parameters).map((value) => printableLine(String(value))),
      state: printableLine(record === undefined ? l10n.t('not sent') : stateText(record, lostOf(record.id))),
      time: textOf(record && elapsedSeconds(record, now), formatDuration),
      seconds: (record && elapsedSeconds(record, now)) ?? null,
      spent: (record && (usedHours(record, now)?.core ?? costSoFar(record, now))) ?? null,
      cost: record === undefined ? '' : (describeUsed(record, now) ?? textOf(costSoFar(record, now), formatCredits)),
      values: metrics.map((name) => finite(of.get(name)?.last)),
      isSent: record !== undefined,
      curve: metric === null ? [] : thinned(of.get(metric)?.points ?? [], most),
    })),
    canCancel: !sweep.isCancelled && (counts.unfinished > 0 || isSending),
    canResume: !sweep.isCancelled && counts.unsent > 0 && !isSending,
    canDownload: awaitedResults(records).length > 0,
  };
}

function stateText(record: JobRecord, lost: LostContact | undefined): string {
  return lost === undefined || isOver(record) ? stateWord(record.state) : describeLastSeen(record, lost);
}

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '' : format(value);
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** At most so many of the points, the last one among them. */
function thinned(points: Series['points'], most: number): readonly (readonly [number, number | null])[] {
  const every = Math.ceil(points.length / most);
  return points
    .filter((_, index) => (points.length - 1 - index) % every === 0)
    .map(([x, y]) => [x, Number.isFinite(y) ? y : null]);
}
