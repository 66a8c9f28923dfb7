import { html } from 'hono/html';
import { formatCount } from '../../../core/text/format.ts';
import type { Balances } from '../../store/accounts/creditLedger.ts';
import type { StoredJob } from '../../store/jobs/jobTable.ts';
import {
  COST_TITLES,
  costTitle,
  shownCost,
  shownCredits,
  shownName,
  shownReason,
  shownRuntime,
  shownState,
  shownTime,
} from './tableCells.ts';
import { document, facts, type Html, note, table } from './documentLayout.ts';

const NUMBERS = new Set(['Run time', ...COST_TITLES]);
const HEAD = ['Job', 'State', 'Project', 'Machine class', 'Submitted (UTC)', 'Run time'];

export interface ShownAccount {
  /** The account as the page's head shows it. */
  readonly who: string;
  /** Micro-credits that the key can spend; undefined if no job costs credits. */
  readonly spendable: number | undefined;
  /** Undefined for a key that is restricted, or if no job costs credits. */
  readonly balances: Balances | undefined;
  /** Why new jobs are refused now. */
  readonly refusal: string | undefined;
}

/** Some of an account's jobs, and the way to the others. */
export interface ShownJobs {
  readonly jobs: readonly StoredJob[];
  /** The last of these jobs if there are older ones. */
  readonly next: string | undefined;
  readonly isFirstPage: boolean;
}

/** A person's start page. @param list undefined for a key that may not read jobs. */
export function jobsView(account: ShownAccount, list: ShownJobs | undefined, now: number): Html {
  const { who, spendable, balances, refusal } = account;
  const figures: [string, string][] = spendable === undefined ? [] : [['Credits to spend', shownCredits(spendable)]];
  if (balances !== undefined) {
    figures.push(
      ['Reserved for unfinished jobs', shownCredits(balances.held)],
      ['Spent', shownCredits(balances.spent)],
    );
  }
  const body = html`${refusal !== undefined && note(refusal)} ${figures.length > 0 && facts(figures, 'figures')}
  ${list === undefined ? note('This API key does not have the scope "read", so it cannot show jobs.') : listed(list, now)}`;
  return document({ title: 'Your jobs', who, body });
}

function listed({ jobs, next, isFirstPage }: ShownJobs, now: number): Html {
  if (jobs.length === 0 && isFirstPage) {
    return html`<p>You have no jobs yet. Submit a folder:</p>
      <pre>farwharf submit FOLDER --script train.py --watch</pre>`;
  }
  const caption = `${formatCount(jobs.length, 'job')}, newest first`;
  return html`${table(
    caption,
    [...HEAD, costTitle(jobs)],
    jobs.map((job) => row(job, now)),
    NUMBERS,
  )}
    <nav class="pages" aria-label="Pages">
      ${isFirstPage ? html`<a href="/">Reload</a>` : html`<a href="/">Newest jobs</a>`}
      ${next !== undefined && html`<a href="/?before=${next}">Older jobs</a>`}
    </nav>`;
}

function row(job: StoredJob, now: number): Html {
  return html`<tr>
    <th scope="row" class="name"><a href="/jobs/${job.id}">${shownName(job.script)}</a></th>
    <td class="words">${shownState(job.state)}${shownReason(job)}</td>
    <td class="name">${job.project === null ? '–' : shownName(job.project)}</td>
    <td>${shownName(job.machineClass)}</td>
    <td class="time">${shownTime(job.createdAt)}</td>
    <td class="number">${shownRuntime(job, now)}</td>
    <td class="number">${shownCost(job, now)}</td>
  </tr>`;
}
