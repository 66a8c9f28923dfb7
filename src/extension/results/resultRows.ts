import { formatBytes } from '../../core/text/format.ts';
import type { PlannedResult, ResultDecision, ResultStatus } from '../../workspace/results/results.ts';

/** What a status means to the user. */
const MEANINGS: Readonly<Record<Exclude<ResultStatus, 'review' | 'protected'>, string>> = {
  new: 'new',
  same: 'same as your file',
  changed: 'changed by the job; your copy is as submitted',
  conflict: 'changed by the job and by you',
};
const REASONS: Readonly<Record<NonNullable<PlannedResult['review']>['reason'], string>> = {
  hidden: 'hidden',
  tool: 'tools read this file name',
  protected: 'other tools read this file name',
  selection: 'changes which files are sent',
};
const ORDER: readonly ResultStatus[] = ['conflict', 'changed', 'new', 'review', 'protected'];

/** A row of the results plan in plain values. */
export interface ResultRow {
  readonly path: string;
  readonly description: string;
  readonly isTicked: boolean;
  /** What ticking it means. */
  readonly decision: Exclude<ResultDecision, 'skip'>;
  /** Whether a diff shows what ticking it changes. */
  readonly canCompare: boolean;
  /** Whether nothing stands at its path: it is compared with nothing. */
  readonly isNew: boolean;
  /** Whether it may change what tools do or what is sent next: ticked by itself only, never with others. */
  readonly isApart: boolean;
  readonly canOverwrite: boolean;
}

/** Rows for what can be decided, the hardest decisions first; files that are the same already need none. */
export function resultRows(plan: readonly PlannedResult[]): ResultRow[] {
  return ORDER.flatMap((status) => plan.filter((result) => result.status === status)).map(rowOf);
}

/** Whether a person must look before anything is written: not when every file is new or the same. */
export function needsDecision(plan: readonly PlannedResult[]): boolean {
  return plan.some(({ status }) => status !== 'new' && status !== 'same');
}

/**
 * What may stay ticked after a change of the ticks: rows that stand apart were ticked one at a time, since a tick for all rows at once
 * is no choice of each.
 */
export function tickedOneByOne<T extends { readonly row?: ResultRow }>(
  before: readonly T[],
  after: readonly T[],
): readonly T[] {
  const known = new Set(before);
  const added = after.filter((item) => !known.has(item));
  return added.length <= 1 ? after : after.filter((item) => known.has(item) || item.row?.isApart !== true);
}

/** The other way to bring a conflicting file: overwrite instead of keeping both, and back. */
export function toggled(row: ResultRow): ResultRow {
  const decision = row.decision === 'write' ? 'keep-both' : 'write';
  return { ...row, decision, description: row.description.replace(/^[^·]*/, `${actionText(decision)} `) };
}

/** The decisions for a plan whose ticked rows are given: everything else is skipped. */
export function decisionsFor(
  plan: readonly PlannedResult[],
  ticked: readonly ResultRow[],
): Map<string, ResultDecision> {
  const chosen = new Map(ticked.map(({ path, decision }) => [path, decision]));
  return new Map(plan.map(({ path }) => [path, chosen.get(path) ?? 'skip']));
}

function rowOf({ path, size, status, review }: PlannedResult): ResultRow {
  // A local change is never lost by a default: both are kept unless the person says otherwise.
  const decision = status === 'conflict' ? 'keep-both' : 'write';
  const isApart = review !== undefined;
  const hasBoth = status === 'changed' || status === 'conflict' || (status === 'review' && review?.isNew === false);
  const action = hasBoth ? `${actionText(decision)} · ` : '';
  const meaning =
    status === 'review' || status === 'protected' ? REASONS[review?.reason ?? 'protected'] : MEANINGS[status];
  return {
    path,
    decision,
    description: `${action}${meaning} · ${formatBytes(size)}`,
    isTicked: !isApart,
    canCompare: hasBoth || isApart,
    canOverwrite: hasBoth,
    isNew: status === 'new' || review?.isNew === true,
    isApart,
  };
}

function actionText(decision: ResultDecision): string {
  return decision === 'write' ? 'overwrite' : 'keep both';
}
