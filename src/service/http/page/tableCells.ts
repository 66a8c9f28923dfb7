import { html } from 'hono/html';
import { formatCredits, formatDuration } from '../../../core/text/format.ts';
import { describeHours, hoursOf } from '../../../core/text/machineHours.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { JobState } from '../../../remote/protocol/states.ts';
import { toCredits } from '../../store/accounts/creditLedger.ts';
import { isUnpricedJob, type StoredJob } from '../../store/jobs/jobTable.ts';
import type { Html } from './documentLayout.ts';

const KINDS: Readonly<Record<JobState, string>> = {
  queued: '',
  starting: 'calm',
  running: 'calm',
  succeeded: 'good',
  failed: 'bad',
  cancelled: '',
  timed_out: 'bad',
  lost: 'warn',
};
const MAX_NAME = 80;
const MAX_REASON = 300;

/** An untrusted name as one short line; never empty, because a link needs a text. */
export function shownName(text: string, limit = MAX_NAME): string {
  const line = shortened(text.trim(), limit);
  return line.trim() === '' ? '(no name)' : line;
}

/** `2027-05-01 09:12`, with the exact time for programs. @param at milliseconds since 1970. */
export function shownTime(at: number | null): Html | string {
  if (at === null) return '–';
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}

/** Credits from the unit of the ledger. */
export function shownCredits(micro: number): string {
  return formatCredits(toCredits(micro));
}

export function shownState(state: JobState): Html {
  return html`<span class="state ${KINDS[state]}">${state.replace('_', ' ')}</span>`;
}

/** The reason of a job's state, or its exit code. */
export function shownReason({ reason, exitCode }: Pick<StoredJob, 'reason' | 'exitCode'>): Html | string {
  const text = reason ?? (exitCode === null || exitCode === 0 ? '' : `exit code ${exitCode}`);
  return text === '' ? '' : html`<span class="reason">${shortened(text, MAX_REASON)}</span>`;
}

/** How long a job ran, or has run until `now`. */
export function shownRuntime({ startedAt, finishedAt }: StoredJob, now: number): string {
  return startedAt === null ? '–' : formatDuration(Math.max(0, (finishedAt ?? now) - startedAt) / 1_000);
}

/** The titles that a column of costs can have. */
export const COST_TITLES: readonly string[] = ['Credits', 'Cost'];

/** The title of the costs of these jobs. */
export function costTitle(jobs: readonly StoredJob[]): string {
  return jobs.some(isUnpricedJob) ? 'Cost' : 'Credits';
}

/** What an ended job cost, or what is reserved for another; without a price, what a job has used until `now`. */
export function shownCost(job: StoredJob, now: number): string {
  const { charged, hold, unpricedCpus, unpricedGpus, startedAt, finishedAt } = job;
  if (unpricedCpus !== null) {
    const seconds = startedAt === null ? 0 : Math.max(0, (finishedAt ?? now) - startedAt) / 1_000;
    return describeHours(hoursOf({ cpus: unpricedCpus, gpus: unpricedGpus ?? 0 }, seconds)) || '–';
  }
  return charged === null ? `up to ${shownCredits(hold)}` : shownCredits(charged);
}

function shortened(text: string, limit: number): string {
  const line = printableLine(text);
  return line.length <= limit ? line : `${line.slice(0, limit - 1).toWellFormed()}…`;
}
