import { formatBytes, formatCount, formatCredits, formatDuration } from '../core/format.ts';
import { plainText } from '../core/terminalText.ts';
import { describeEstimate } from '../jobs/estimate.ts';
import { exclusionSentence, headline, largestSentence } from './preflightText.ts';
import type { SubmitDraft, SubmitView } from './submitDraft.ts';
import { hostLabel } from './words.ts';

export type PreflightChoice =
  | 'submit'
  | 'submitQuietly'
  | 'script'
  | 'machine'
  | 'time'
  | 'project'
  | 'requirements'
  | 'sent'
  | 'left';

/** A row of the preflight in plain values; one without a choice starts a section. */
export interface PreflightRow {
  readonly choice?: PreflightChoice;
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
}

const REQUIREMENTS = 'requirements.txt';

/** The rows of the preflight: first the answer, then each thing that can be changed, with what it is now. */
export function preflightRows(draft: SubmitDraft, view: SubmitView, news: readonly string[]): PreflightRow[] {
  const { selection } = view;
  const sent = `${formatCount(selection.files.length, 'file')}, ${formatBytes(selection.totalBytes)}`;
  const rows: PreflightRow[] = [
    {
      choice: 'submit',
      label: '$(rocket) Submit',
      description: `to ${hostLabel(view.host)}`,
      detail: [headline(selection, view.estimate), ...news].map(plainText).join(' '),
    },
    { choice: 'submitQuietly', label: "$(check-all) Submit, and don't ask again until something new turns up" },
    ...warnings(view),
    { label: 'Job' },
    { choice: 'script', label: '$(terminal) Script', description: draft.script },
    { choice: 'machine', label: '$(server) Machine class', ...machineText(draft, view) },
    {
      choice: 'time',
      label: '$(watch) Time limit',
      description: `${formatDuration(draft.maxRuntime)} · ${describeEstimate(view.estimate)}`,
    },
    { choice: 'project', label: '$(tag) Project', description: draft.project ?? 'none' },
  ];
  if (selection.files.some(({ path }) => path === REQUIREMENTS)) {
    const answer = draft.usesRequirements
      ? `installs ${REQUIREMENTS} first`
      : `uses what is installed there; ${REQUIREMENTS} is not installed`;
    rows.push({ choice: 'requirements', label: '$(package) Packages', description: answer });
  }
  rows.push(
    { label: 'Files' },
    { choice: 'sent', label: '$(files) Sent', description: sent, detail: plainText(largestSentence(selection.files)) },
    {
      choice: 'left',
      label: '$(circle-slash) Left out',
      description: leftText(view),
      detail: plainText(exclusionSentence(selection.excluded)),
    },
  );
  return rows;
}

/** What to write above the rows. */
export function preflightTitle(view: SubmitView): string {
  return `Submit ${plainText(view.folderName)} to ${hostLabel(view.host)}`;
}

function warnings(view: SubmitView): PreflightRow[] {
  const rows: PreflightRow[] = view.selection.findings.map(({ type, path, message }) => ({
    choice: type === 'tracked-but-ignored' ? 'left' : 'sent',
    label: `$(${type === 'secret' ? 'shield' : 'warning'}) ${plainText(path)}`,
    description: plainText(message),
  }));
  if (
    view.estimate.type === 'known' &&
    view.estimate.balance !== null &&
    view.estimate.highest > view.estimate.balance
  ) {
    const missing = formatCredits(view.estimate.highest - view.estimate.balance);
    rows.push({
      choice: 'time',
      label: `$(warning) ${missing} credits are missing`,
      description: 'Choose a shorter time limit or a cheaper machine.',
    });
  }
  if (view.selection.files.length === 0)
    rows.push({
      choice: 'left',
      label: '$(warning) No file would be sent',
      description: 'See what is left out, and why.',
    });
  return rows.length === 0 ? [] : [{ label: 'To look at' }, ...rows];
}

function machineText(
  { machineClass: name }: SubmitDraft,
  { rates }: SubmitView,
): { description: string; detail?: string } {
  if (name === undefined) return { description: 'the service decides' };
  const rate = rates.find(({ machineClass }) => machineClass === name);
  if (!rate) return { description: `${plainText(name)} · not on the price list` };
  const description = `${plainText(name)} · ${formatCredits(rate.creditsPerMinute)} credits a minute`;
  return rate.description === null ? { description } : { description, detail: plainText(rate.description) };
}

function leftText({ selection }: SubmitView): string {
  const { length } = selection.excluded;
  return length === 0 ? 'nothing' : formatCount(length, 'file or folder', 'files and folders');
}
