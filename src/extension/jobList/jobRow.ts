import { formatCredits, formatDuration } from '../../core/text/format.ts';
import { type Printable, printableLine } from '../../core/text/printable.ts';
import { describeJob, type JobIcon, jobIcon } from '../../jobs/describe.ts';
import { costSoFar, describeForecast } from '../../jobs/submit/estimate.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { escapeMarkdown, twoColumns } from '../ui/markdown.ts';
import { hostLabel } from '../ui/words.ts';

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

const ICONS: Readonly<Record<JobIcon, readonly [icon: string, color?: string]>> = {
  sending: ['cloud-upload'],
  queued: ['clock'],
  running: ['sync~spin', 'progressBar.background'],
  succeeded: ['pass', 'testing.iconPassed'],
  failed: ['error', 'testing.iconFailed'],
  cancelled: ['circle-slash', 'disabledForeground'],
  'timed-out': ['watch', 'testing.iconFailed'],
  unknown: ['question', 'list.warningForeground'],
};

/** `now` is in milliseconds. */
export function jobRow(record: JobRecord, now: number): JobRow {
  const family = jobIcon(record);
  const [icon, color] = ICONS[family];
  const label = printableLine(record.script);
  const description = printableLine(describeJob(record, now));
  const spoken = [label, ...description.split(' · ').map(spellOut)].join(', ');
  return { label, description, icon, color, contextValue: `job.${family}`, spoken };
}

/** The hover of a job: Markdown without links or HTML, with untrusted text escaped. Times are in the local time zone. */
export function jobTooltip(record: JobRecord, now: number): string {
  const rows: (readonly [string, string])[] = [];
  const row = (name: string, value: string | null | undefined): void => {
    if (value) rows.push([name, escapeMarkdown(value)]);
  };
  row(
    'State',
    record.reason === null ? record.state.replace('_', ' ') : `${record.state.replace('_', ' ')}: ${record.reason}`,
  );
  row('Submitted', when(record.createdAt));
  row('Started', when(record.startedAt));
  row(isOver(record) ? 'Ended' : '', isOver(record) ? when(record.finishedAt) : null);
  row('Time limit', formatDuration(record.maxRuntime));
  row('Machine', [record.machineClass, hostLabel(record.host)].filter((part) => part !== null).join(' on '));
  row('Cost', costText(record, now));
  row('Project', record.project);
  row('Commit', record.gitCommit?.slice(0, 10));
  row('Folder', record.folder);
  row('Job ID', record.jobId);
  row('Results', record.downloadedAt === null ? null : `downloaded ${when(record.downloadedAt)}`);
  row('Last output', record.lastLogLine?.slice(0, 200));
  return `**${escapeMarkdown(record.script)}**\n\n${twoColumns(rows)}`;
}

function costText(record: JobRecord, now: number): string | null {
  if (!isOver(record)) return describeForecast(record, now);
  const cost = costSoFar(record, now);
  return cost === null ? null : `${formatCredits(cost)} credits`;
}

function when(time: string | null): string {
  if (time === null) return '';
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** `1.2 cr` as a screen reader should say it. */
function spellOut(part: string): string {
  return part.replace(/(\d) cr\b/, '$1 credits');
}
