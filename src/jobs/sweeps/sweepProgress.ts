import * as l10n from '@vscode/l10n';
import { formatCredits } from '../../core/text/format.ts';
import { addHours, describeHours, type MachineHours, NO_HOURS } from '../../core/text/machineHours.ts';
import { hasSucceeded, isOver, type JobRecord } from '../ledger/record.ts';
import { costSoFar, usedHours } from '../plan/estimate.ts';
import { highestCost, type Sweep } from './sweep.ts';

/** What became of the jobs of a sweep. Each job counts once. */
export interface SweepCounts {
  readonly total: number;
  readonly unsent: number;
  /** Sent and not ended. */
  readonly unfinished: number;
  readonly succeeded: number;
  /** Ended in any other way. */
  readonly failed: number;
  /** Jobs whose service did not say whether it accepted them. */
  readonly unknown: number;
  /** Credits so far, as far as they are known. */
  readonly cost: number;
  /** The use of machine classes without a price so far. */
  readonly hours: MachineHours;
}

/** @param total how many jobs the sweep has. @param records those that were sent. @param now milliseconds. */
export function countJobs(total: number, records: readonly JobRecord[], now: number): SweepCounts {
  const counts = { unfinished: 0, succeeded: 0, failed: 0, unknown: 0 };
  let cost = 0;
  let hours = NO_HOURS;
  for (const record of records) {
    counts[stateOf(record)] += 1;
    cost += costSoFar(record, now) ?? 0;
    hours = addHours(hours, usedHours(record, now) ?? NO_HOURS);
  }
  return { total, unsent: total - records.length, ...counts, cost, hours };
}

/**
 * The most that the sent jobs can still have cost in the end: what those that ended were charged, and the limit of the others, or what the
 * service holds for them if that is more, because its prices have risen.
 */
export function committedCost({ drafts }: Pick<Sweep, 'drafts'>, records: readonly JobRecord[]): number {
  const limits = new Map(drafts.map((draft) => [draft.id, highestCost(draft) ?? 0]));
  return records.reduce((sum, record) => {
    const limit = Math.max(limits.get(record.id) ?? 0, record.creditHold ?? 0);
    return sum + (isOver(record) ? Math.max(record.creditsCharged ?? limit, 0) : limit);
  }, 0);
}

/** `7 of 12 done · 1 failed · 3 running · 1 not sent · 4.2 cr`. */
export function describeCounts(counts: SweepCounts): string {
  const { total, unsent, unfinished, succeeded, failed, unknown, cost, hours } = counts;
  return [
    l10n.t('{0} of {1} done', succeeded + failed, total),
    failed > 0 ? l10n.t('{0} failed', failed) : '',
    unfinished > 0 ? l10n.t('{0} unfinished', unfinished) : '',
    unknown > 0 ? l10n.t('{0} unknown', unknown) : '',
    unsent > 0 ? l10n.t('{0} not sent', unsent) : '',
    cost > 0 ? l10n.t('{0} cr', formatCredits(cost)) : '',
    describeHours(hours),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

function stateOf(record: JobRecord): 'unfinished' | 'succeeded' | 'failed' | 'unknown' {
  if (record.state === 'unknown') return 'unknown';
  if (!isOver(record)) return 'unfinished';
  return hasSucceeded(record) ? 'succeeded' : 'failed';
}
