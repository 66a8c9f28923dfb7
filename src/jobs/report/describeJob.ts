import * as l10n from '@vscode/l10n';
import { formatCredits, formatDuration, formatInteger, plural } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { costSoFar, describeUsed } from '../plan/estimate.ts';
import { jobIcon, type JobIcon, stateWord } from '../ledger/jobIcon.ts';
import { elapsedSeconds, isOver, isUnpriced, isWaiting, type JobRecord } from '../ledger/record.ts';
import { describeProgramProgress, readProgress } from '../log/programProgress.ts';
import { describeFrozen, holdLeft, isFrozen } from './frozenText.ts';
import { describeWaiting } from './waitingText.ts';

const REASON_LIMIT = 160;

/**
 * `running 4 min · 62 % · 2 min left · a10g · 1.2 cr`; a failed job's reason; free of control characters.
 *
 * @param now milliseconds. @param isBesideIcon whether an icon shows the state: `4 min · 62 % · 2 min left · running · a10g · 1.2 cr`,
 * so that a narrow view shows more than the icon does.
 */
export function describeJob(record: JobRecord, now: number, { isBesideIcon = false } = {}): string {
  const icon = jobIcon(record);
  if (icon === 'failed') return failureReason(record);
  if (isWaiting(record)) return oneLine(l10n.t('waits for an answer: {0}', record.waiting.question));
  if (isFrozen(record)) return oneLine(joined([describeFrozen(record), l10n.t('{0} left', holdLeft(record, now))]));
  if (icon === 'unknown')
    return oneLine(`${stateWord(record.state)}: ${record.reason ?? l10n.t('check before you send it again')}`);
  // A job that was stopped at its time limit ran for exactly that time.
  const elapsed = icon === 'timed-out' ? null : elapsedSeconds(record, now);
  const cost = costSoFar(record, now);
  const state = stateText(record, icon);
  const time = elapsed === null ? null : formatDuration(elapsed);
  const progress = icon === 'running' ? progressText(record) : null;
  // Before it starts, its reason says what it waits for.
  const wait = record.startedAt === null ? (describeWaiting(record.reason, now) ?? null) : null;
  const start = isBesideIcon
    ? [time, progress, wait, state]
    : [time === null ? state : `${state} ${time}`, progress, wait];
  return joined([
    ...start,
    record.machineClass,
    cost === null || (cost === 0 && !isOver(record))
      ? describeUsed(record, now)
      : l10n.t('{0} cr', formatCredits(cost)),
  ]);
}

/** `1a2b3c4d5e and 3 changed files`: the commit that was submitted; undefined if it is unknown. */
export function describeCommit({
  gitCommit,
  gitChanges,
}: Pick<JobRecord, 'gitCommit' | 'gitChanges'>): string | undefined {
  if (gitCommit === null) return undefined;
  const commit = gitCommit.slice(0, 10);
  if (gitChanges === null || gitChanges === 0) return commit;
  return gitChanges === 1
    ? l10n.t('{0} and 1 changed file', commit)
    : l10n.t('{0} and {1} changed files', commit, formatInteger(gitChanges));
}

/** `3 new files, 1 changed`, or that there are none; undefined if the service does not say. */
export function describeResultCount({ results }: Pick<JobRecord, 'results'>): string | undefined {
  if (results === null) return undefined;
  const { files, added } = results;
  if (files === 0) return l10n.t('no results');
  if (added === null) return plural(files, l10n.t('1 result'), l10n.t('{0} results'));
  const changed = files - added;
  if (added === 0) return plural(changed, l10n.t('1 changed file'), l10n.t('{0} changed files'));
  const news = plural(added, l10n.t('1 new file'), l10n.t('{0} new files'));
  return changed === 0 ? news : l10n.t('{0}, {1} changed', news, changed);
}

/** The one line at the end of a log: `succeeded after 42 s · 1.2 credits · results in /home/ada/model`. */
export function describeOutcome(record: JobRecord, results?: string): string {
  const icon = jobIcon(record);
  const elapsed = icon === 'timed-out' ? null : elapsedSeconds(record, Date.parse(record.finishedAt ?? ''));
  const state = icon === 'failed' ? l10n.t('failed ({0})', failureReason(record)) : stateText(record, icon);
  const isPlain = icon === 'unknown' && record.reason !== null;
  const end = isPlain ? `${state}: ${record.reason}` : state;
  return joined([
    elapsed === null ? end : l10n.t('{0} after {1}', end, formatDuration(elapsed)),
    costOf(record),
    results ?? null,
  ]);
}

/** What a job that has ended cost: `1.2 credits`, or without a price `4 core-hours`; null if unknown. */
function costOf(record: JobRecord): string | null {
  const { creditsCharged } = record;
  if (isUnpriced(record)) return describeUsed(record, Date.parse(record.finishedAt ?? ''));
  return creditsCharged === null ? null : l10n.t('{0} credits', formatCredits(creditsCharged));
}

function progressText({ lastLogLine }: JobRecord): string | null {
  const progress = lastLogLine === null ? undefined : readProgress(lastLogLine);
  return progress === undefined ? null : describeProgramProgress(progress);
}

function stateText(record: JobRecord, icon: JobIcon): string {
  if (icon !== 'timed-out') return stateWord(record.state);
  return l10n.t('stopped at its time limit of {0}', formatDuration(record.maxRuntime));
}

function failureReason(record: JobRecord): string {
  // If the service only repeats the exit code, the last line of output is a better reason.
  const reason = /^(?:exit(?:ed)?\b[^:]*\d+|failed)\.?$/i.test(record.reason ?? '') ? null : record.reason;
  // If the script exited with 0, something else failed, which the reason names.
  const isExplained = record.exitCode === null || (record.exitCode === 0 && reason !== null);
  const exit = isExplained ? null : l10n.t('exit {0}', record.exitCode ?? '');
  return (
    oneLine([exit, reason ?? record.lastLogLine].filter((part) => part !== null).join(': ')) || stateWord('failed')
  );
}

function joined(parts: readonly (string | null)[]): string {
  return oneLine(parts.filter((part) => part !== null && part !== '').join(' · '));
}

function oneLine(text: string): string {
  const line = printableLine(text.replaceAll(/[\r\n\t]+/g, ' ')).trim();
  return line.length <= REASON_LIMIT ? line : `${line.slice(0, REASON_LIMIT - 1)}…`;
}
