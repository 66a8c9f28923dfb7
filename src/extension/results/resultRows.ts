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

/** A row of the results plan as plain values. */
export interface ResultRow {
  readonly path: string;
  readonly description: string;
  readonly isTicked: boolean;
  /** What happens to the result if the row is checked. */
  readonly decision: Exclude<ResultDecision, 'skip'>;
  /** Whether a diff can show the change. */
  readonly canCompare: boolean;
  /** Whether the folder has no file at this path; the result is then compared with an empty file. */
  readonly isNew: boolean;
  /** Whether the file could change how tools behave or what the next submit sends. Such rows are checked one at a time. */
  readonly isApart: boolean;
  readonly canOverwrite: boolean;
}

/** Rows for the files that need a decision, the hardest first. Identical files need none. */
export function resultRows(plan: readonly PlannedResult[]): ResultRow[] {
  return ORDER.flatMap((status) => plan.filter((result) => result.status === status)).map(rowOf);
}

/** Whether the user must decide before anything is written: not if every file is new or identical. */
export function needsDecision(plan: readonly PlannedResult[]): boolean {
  return plan.some(({ status }) => status !== 'new' && status !== 'same');
}

/**
 * What may stay checked after a change of the checks. Rows that are apart can be checked only one at a time, because checking all rows
 * at once is not a decision about each.
 */
export function tickedOneByOne<T extends { readonly row?: ResultRow }>(
  before: readonly T[],
  after: readonly T[],
): readonly T[] {
  const known = new Set(before);
  const added = after.filter((item) => !known.has(item));
  return added.length <= 1 ? after : after.filter((item) => known.has(item) || item.row?.isApart !== true);
}

/** Switches a conflicting file between overwriting and keeping both. */
export function toggled(row: ResultRow): ResultRow {
  const decision = row.decision === 'write' ? 'keep-both' : 'write';
  return { ...row, decision, description: row.description.replace(/^[^·]*/, `${actionText(decision)} `) };
}

/** The decisions for a plan, given its checked rows. Everything else is skipped. */
export function decisionsFor(
  plan: readonly PlannedResult[],
  ticked: readonly ResultRow[],
): Map<string, ResultDecision> {
  const chosen = new Map(ticked.map(({ path, decision }) => [path, decision]));
  return new Map(plan.map(({ path }) => [path, chosen.get(path) ?? 'skip']));
}

function rowOf({ path, size, status, review }: PlannedResult): ResultRow {
  // No default loses a local change: both versions are kept unless the user decides otherwise.
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
