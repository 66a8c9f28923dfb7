import { basename, posix } from 'node:path';
import * as l10n from '@vscode/l10n';
import { formatCredits, formatDuration } from '../../../core/text/format.ts';
import { type Printable, printableLine } from '../../../core/text/printable.ts';
import { isDebuggable, isFrozen } from '../../../jobs/report/frozenText.ts';
import { describeCommit, describeJob, describeResultCount } from '../../../jobs/report/describeJob.ts';
import { type JobIcon, jobIcon, stateWord } from '../../../jobs/ledger/jobIcon.ts';
import { shownScript, startedArguments, startedName } from '../../../jobs/selection/script.ts';
import { costSoFar, describeForecast, describeUsed } from '../../../jobs/plan/estimate.ts';
import { isOver, isUnpriced, isWaiting, type JobRecord } from '../../../jobs/ledger/record.ts';
import { describeLastSeen, describeLostService, type LostContact, clockTime } from '../store/lostContacts.ts';
import { escapeMarkdown, twoColumns } from '../../ui/markdown.ts';
import { hostLabel, hostTitle } from '../../ui/words.ts';

/** A row of the view as plain values. */
export interface JobRow {
  readonly label: Printable;
  readonly description: Printable;
  /** Name of a product icon and of a theme colour. */
  readonly icon: string;
  readonly color: string | undefined;
  /** For `when` clauses: `job.running`. */
  readonly contextValue: string;
  readonly spoken: string;
}

// Those of failed tests and of warnings in lists have no colour in high-contrast themes.
export const ICONS = {
  sending: ['cloud-upload'],
  queued: ['clock'],
  running: ['sync~spin', 'progressBar.background'],
  succeeded: ['pass', 'testing.iconPassed'],
  failed: ['error', 'problemsErrorIcon.foreground'],
  cancelled: ['circle-slash', 'disabledForeground'],
  'timed-out': ['watch', 'problemsErrorIcon.foreground'],
  unknown: ['question', 'problemsWarningIcon.foreground'],
} as const satisfies Readonly<Record<JobIcon, readonly [icon: string, color?: string]>>;

const WAITING_ICON = ['comment-discussion', 'problemsWarningIcon.foreground'] as const;
const FROZEN_ICON = ['debug-pause', 'problemsWarningIcon.foreground'] as const;
export const LOST_ICON = ['warning', 'problemsWarningIcon.foreground'] as const;

/** What a row depends on besides its job. */
export interface RowContext {
  /** Milliseconds. */
  readonly now: number;
  /** Set while the service of a running job cannot be asked. */
  readonly lost?: LostContact | undefined;
  /** Whether the jobs in the list come from several folders. */
  readonly hasSeveralFolders?: boolean;
  /** Whether the jobs in the list run on several services. */
  readonly hasSeveralHosts?: boolean;
}

/** The label is the script. The description starts with the time, as the icon shows the state, and ends with what distinguishes the job from others. */
export function jobRow(record: JobRecord, { now, lost, hasSeveralFolders, hasSeveralHosts }: RowContext): JobRow {
  const family = jobIcon(record);
  const isLost = lost !== undefined && !isOver(record);
  const isAsking = isWaiting(record);
  const isHeld = isFrozen(record);
  const [icon, color] = isLost ? LOST_ICON : isAsking ? WAITING_ICON : isHeld ? FROZEN_ICON : ICONS[family];
  const path = startedName(record);
  const isCommand = record.command !== null;
  const label = printableLine(isCommand ? path : posix.basename(path));
  const parts = [
    isLost ? describeLost(record, lost) : describeJob(record, now, { isBesideIcon: true }),
    resultsText(record),
    path.includes('/') && !isCommand ? posix.dirname(path) : '',
    startedArguments(record),
    hasSeveralFolders ? basename(record.folder) : '',
    hasSeveralHosts ? hostTitle(record.host) : '',
  ].filter((part) => part !== '');
  const description = printableLine(parts.join(' · '));
  const spoken = [label, ...(record.pinned ? [l10n.t('pinned')] : []), ...description.split(' · ').map(spellOut)].join(
    ', ',
  );
  const contextValue = `job.${family}${isAsking ? '.waiting' : ''}${isHeld ? '.frozen' : isDebuggable(record) ? '.debug' : ''}${record.pinned ? '.pinned' : ''}${isLost ? `.${lost.reason}` : ''}`;
  return { label, description, icon, color, contextValue, spoken };
}

/** What results the job has, until they are downloaded. */
function resultsText(record: JobRecord): string {
  if (record.downloadedAt !== null) return l10n.t('results downloaded');
  return record.results === null || record.results.files === 0 ? '' : (describeResultCount(record) ?? '');
}

/** `since 10:52 · last seen running · sign in to gpu.example.org`. */
function describeLost(record: JobRecord, { reason, since }: LostContact): string {
  const meaning = describeLostService({ reason, host: record.host });
  return l10n.t('since {0} · last seen {1} · {2}', clockTime(since), stateWord(record.state), meaning);
}

/**
 * The hover of a job: Markdown without links or HTML, with untrusted text escaped. Times are in the local time zone.
 *
 * @param lost set while the service of a running job cannot be asked. The cost is that of the last contact.
 */
export function jobTooltip(record: JobRecord, now: number, lost?: LostContact): string {
  const rows: (readonly [string, string])[] = [];
  const row = (name: string, value: string | null | undefined): void => {
    if (value) rows.push([name, escapeMarkdown(value)]);
  };
  const isLost = lost !== undefined && !isOver(record);
  const state = isLost ? describeLastSeen(record, lost) : stateWord(record.state);
  row(l10n.t('State'), record.reason === null ? state : `${state}: ${record.reason}`);
  row(l10n.t('Waits for'), isWaiting(record) ? record.waiting.question : null);
  row(l10n.t('Submitted'), when(record.createdAt));
  row(l10n.t('Started'), when(record.startedAt));
  row(isOver(record) ? l10n.t('Ended') : '', isOver(record) ? when(record.finishedAt) : null);
  row(l10n.t('Time limit'), formatDuration(record.maxRuntime));
  row(
    l10n.t('Machine'),
    record.machineClass === null
      ? hostTitle(record.host)
      : l10n.t('{0} on {1}', record.machineClass, hostLabel(record.host)),
  );
  row(l10n.t('Cost'), costText(record, isLost ? lost.since : now));
  row(l10n.t('Project'), record.project);
  row(l10n.t('Commit'), describeCommit(record));
  row(l10n.t('Folder'), record.folder);
  row(l10n.t('Job ID'), record.jobId);
  const downloaded = record.downloadedAt === null ? undefined : l10n.t('downloaded {0}', when(record.downloadedAt));
  row(l10n.t('Results'), [describeResultCount(record), downloaded].filter((part) => part !== undefined).join(', '));
  row(l10n.t('Last output'), record.lastLogLine?.slice(0, 200));
  return `**${escapeMarkdown(shownScript(record.script))}**\n\n${twoColumns(rows)}`;
}

function costText(record: JobRecord, now: number): string | null {
  if (!isOver(record)) return describeForecast(record, now);
  if (isUnpriced(record)) return describeUsed(record, now);
  const cost = costSoFar(record, now);
  return cost === null ? null : l10n.t('{0} credits', formatCredits(cost));
}

function when(time: string | null): string {
  if (time === null) return '';
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** `1.2 cr` as a screen reader should say it. */
function spellOut(part: string): string {
  return part.replace(/([\d.,]+) cr\b/, (_, credits: string) => l10n.t('{0} credits', credits));
}
