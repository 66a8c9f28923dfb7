import { formatCredits } from '../../core/text/format.ts';
import type { MachineHours } from '../../core/text/machineHours.ts';
import { isUnpriced, type JobRecord } from '../../jobs/ledger/record.ts';
import { costSoFar, usedHours } from '../../jobs/plan/estimate.ts';
import type { RecordColumn } from './recordTable.ts';

/** What a row of a table costs: credits or, on a machine class without a price, hours. Null and undefined are unknown. */
export type RowCost = { readonly credits: number | null } | { readonly hours: MachineHours | undefined } | undefined;

/** What a job costs so far. @param now milliseconds since 1970. */
export function rowCost(record: JobRecord, now: number): RowCost {
  return isUnpriced(record) ? { hours: usedHours(record, now) } : { credits: costSoFar(record, now) };
}

/**
 * The columns for what rows cost: credits, unless no row has a price, then core-hours and GPU-hours if rows have no price.
 *
 * @param dropOrder of all of them.
 */
export function costColumns<R>(
  rows: readonly R[],
  costOf: (row: R) => RowCost,
  dropOrder: number,
): readonly RecordColumn<R>[] {
  const costs = rows.map(costOf).filter((cost) => cost !== undefined);
  const hours = costs.flatMap((cost) => ('hours' in cost ? [cost.hours] : []));
  const hasCredits = hours.length < costs.length || hours.length === 0;
  const column = (
    title: string,
    amount: (cost: NonNullable<RowCost>) => number | null | undefined,
  ): RecordColumn<R> => ({
    title,
    cell: (row) => {
      const cost = costOf(row);
      const value = cost && amount(cost);
      return value === null || value === undefined ? '' : formatCredits(value);
    },
    align: 'right',
    dropOrder,
  });
  return [
    ...(hasCredits ? [column('CREDITS', (cost) => ('credits' in cost ? cost.credits : null))] : []),
    ...(hours.length > 0 ? [column('CORE-HOURS', (cost) => ('hours' in cost ? cost.hours?.core : null))] : []),
    ...(hours.some((each) => each !== undefined && each.gpu > 0)
      ? [column('GPU-HOURS', (cost) => ('hours' in cost ? cost.hours?.gpu : null))]
      : []),
  ];
}
