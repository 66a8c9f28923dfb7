import { formatBytes } from '../core/format.ts';
import type { PlannedResult, ResultDecision, ResultStatus } from '../workspace/results.ts';

/** What a status means for a person. */
const MEANINGS: Readonly<Record<ResultStatus, string>> = {
  new: 'new',
  same: 'as it is here',
  changed: 'changed by the job; yours is still as submitted',
  conflict: 'changed by the job and by you',
  protected: 'a name that other tools act on',
};
const ORDER: readonly ResultStatus[] = ['conflict', 'changed', 'protected', 'new'];

/** A row of the results plan in plain values. */
export interface ResultRow {
  readonly path: string;
  readonly description: string;
  readonly isTicked: boolean;
  /** What ticking it means. */
  readonly decision: Exclude<ResultDecision, 'skip'>;
  /** Whether both versions are there to compare. */
  readonly canCompare: boolean;
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

function rowOf({ path, size, status }: PlannedResult): ResultRow {
  // A local change is never lost by a default: both are kept unless the person says otherwise.
  const decision = status === 'conflict' ? 'keep-both' : 'write';
  const action = status === 'new' || status === 'protected' ? '' : `${actionText(decision)} · `;
  return {
    path,
    decision,
    description: `${action}${MEANINGS[status]} · ${formatBytes(size)}`,
    isTicked: status !== 'protected',
    canCompare: status === 'changed' || status === 'conflict',
    canOverwrite: status === 'changed' || status === 'conflict',
  };
}

function actionText(decision: ResultDecision): string {
  return decision === 'write' ? 'overwrite' : 'keep both';
}
