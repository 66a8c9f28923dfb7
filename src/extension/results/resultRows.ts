import * as l10n from '@vscode/l10n';
import { formatBytes, plural } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { PlannedResult, ResultDecision, ResultStatus } from '../../workspace/results/applyResults.ts';

const REASONS: Readonly<Record<NonNullable<PlannedResult['review']>['reason'], string>> = {
  hidden: l10n.t('hidden'),
  tool: l10n.t('tools read this file name'),
  protected: l10n.t('other tools read this file name'),
  selection: l10n.t('changes which files are sent'),
};
const ORDER: readonly ResultStatus[] = ['conflict', 'changed', 'new', 'review', 'protected'];

/** A row of the results plan as plain values: one choice for one file. */
export interface ResultRow {
  readonly path: string;
  readonly description: string;
  readonly isTicked: boolean;
  /** What happens to the result if the row is checked. */
  readonly decision: ResultDecision;
  /** Whether a diff can show the change. */
  readonly canCompare: boolean;
  /** Whether the folder has no file at this path; the result is then compared with an empty file. */
  readonly isNew: boolean;
  /** Whether the file could change how tools behave or what the next submit sends. Such rows are checked one at a time. */
  readonly isApart: boolean;
}

/** Rows for the files that need a decision, the hardest first. Identical files need none; a conflict has a row for each choice. */
export function resultRows(plan: readonly PlannedResult[]): ResultRow[] {
  return ORDER.flatMap((status) => plan.filter((result) => result.status === status)).flatMap((result) =>
    result.status === 'conflict' || result.merge !== undefined ? conflictRows(result) : [rowOf(result)],
  );
}

/** Whether the user must decide before anything is written: not if every file is new or identical. */
export function needsDecision(plan: readonly PlannedResult[]): boolean {
  return plan.some(({ status }) => status !== 'new' && status !== 'same');
}

/**
 * What may stay checked after a change of the checks: of the choices for a file, the one that was checked last, or one before when all rows
 * were checked at once. Rows that are apart can be checked only one at a time, because checking all rows at once is not a decision about
 * each.
 */
export function allowedTicks<T extends { readonly row?: ResultRow }>(
  before: readonly T[],
  after: readonly T[],
): readonly T[] {
  const previousPaths = new Set(before);
  const added = after.filter((item) => !previousPaths.has(item));
  if (added.length > 1) {
    const decided = new Set(before.map(({ row }) => row?.path));
    const allowed = added.filter(({ row }) => row?.isApart !== true && !decided.has(row?.path));
    const first = new Map(allowed.toReversed().map((item) => [item.row?.path, item]));
    const kept = new Set([...before, ...first.values()]);
    return after.filter((item) => kept.has(item));
  }
  const [latest] = added;
  return latest === undefined ? after : after.filter((item) => item === latest || item.row?.path !== latest.row?.path);
}

/** The decisions for a plan, given its checked rows. Everything else is skipped. */
export function decisionsFor(
  plan: readonly PlannedResult[],
  ticked: readonly ResultRow[],
): Map<string, ResultDecision> {
  const decisions = new Map(ticked.map(({ path, decision }) => [path, decision]));
  return new Map(plan.map(({ path }) => [path, decisions.get(path) ?? 'skip']));
}

/** The first choice is the default, which loses nothing. */
function conflictRows(result: PlannedResult): ResultRow[] {
  const { path, size, twin, obstacle } = result;
  const choices = [
    ...mergeChoice(result),
    ['keep-both', [keepBothText(result), ...renamed(result), ...changedText(result), formatBytes(size)].join(' · ')],
    ['write', replaceText(result)],
    ['skip', twin === undefined ? l10n.t('keep mine: do not save the result') : l10n.t('do not save it')],
  ] as const satisfies readonly (readonly [ResultDecision, string])[];
  const shared = { path, canCompare: obstacle === undefined && twin === undefined, isNew: false, isApart: false };
  return choices.map(([decision, description], index) => ({ ...shared, decision, description, isTicked: index === 0 }));
}

function mergeChoice({ merge, size }: PlannedResult): readonly (readonly [ResultDecision, string])[] {
  if (merge === undefined) return [];
  const parts = [l10n.t('merge: put the outputs of the job into your notebook')];
  const { olderOutputs } = merge;
  if (olderOutputs > 0)
    parts.push(
      plural(
        olderOutputs,
        l10n.t('1 cell keeps your edit and shows an older output'),
        l10n.t('{0} cells keep your edits and show older outputs'),
      ),
    );
  return [['merge', [...parts, formatBytes(size)].join(' · ')]];
}

// The choice comes first, since a narrow list cuts off the rest.
function keepBothText({ twin, obstacle }: PlannedResult): string {
  if (twin !== undefined) return l10n.t('keep both: {0} has the same name here', twin);
  if (obstacle?.kind === 'folder')
    return l10n.t('keep both: save the result beside your folder, which is in its place');
  if (obstacle !== undefined)
    return l10n.t('keep both: save the result beside your file {0}, which is in its way', obstacle.path);
  return l10n.t('keep both: save the result beside your file');
}

function changedText({ status, twin, obstacle }: PlannedResult): readonly string[] {
  if (status === 'changed') return [];
  return twin === undefined && obstacle === undefined ? [l10n.t('you and the job changed it')] : [];
}

function replaceText({ twin, obstacle }: PlannedResult): string {
  if (twin !== undefined) return l10n.t('save it in place of {0}', twin);
  if (obstacle === undefined) return l10n.t('use the result: replace your file');
  return obstacle.kind === 'folder'
    ? l10n.t('use the result: rename your folder')
    : l10n.t('use the result: rename your file {0}', obstacle.path);
}

/** The path in the job of a result that gets another one here. */
function renamed({ name }: PlannedResult): readonly string[] {
  return name === undefined ? [] : [nameInJob(name)];
}

export function nameInJob(name: string): string {
  return l10n.t('in the job: {0}', printableLine(name));
}

function rowOf(result: PlannedResult): ResultRow {
  const { path, size, status, review } = result;
  const isApart = review !== undefined;
  const isNew = status === 'new' || review?.isNew === true;
  const meaning = meaningOf(status, review?.reason);
  return {
    path,
    decision: 'write',
    description: [
      ...renamed(result),
      ...(isApart && !isNew ? [l10n.t('replaces your file')] : []),
      meaning,
      formatBytes(size),
    ].join(' · '),
    isTicked: !isApart,
    canCompare: isApart || !isNew,
    isNew,
    isApart,
  };
}

function meaningOf(status: ResultStatus, reason: keyof typeof REASONS = 'protected'): string {
  if (status === 'new') return l10n.t('new');
  return status === 'changed'
    ? l10n.t('changed by the job: replace your file, which is as submitted')
    : REASONS[reason];
}
