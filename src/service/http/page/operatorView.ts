import { html } from 'hono/html';
import { formatCount, formatInteger } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { HealthReport } from '../../health/health.ts';
import type { StoredAccount } from '../../store/accounts/accountTable.ts';
import type { Balances } from '../../store/accounts/creditLedger.ts';
import type { StoredJob } from '../../store/jobs/jobTable.ts';
import { barPlot, type Slot } from './barPlot.ts';
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
import { document, facts, type Html, table } from './documentLayout.ts';

const KINDS = { ok: 'good', draining: 'warn', degraded: 'warn', unavailable: 'bad' } as const;
const JOB_HEAD = ['Job', 'Account', 'Script', 'State', 'Machine class', 'Submitted (UTC)', 'Run time'];
const ACCOUNT_HEAD = ['Account', 'Name', 'State', 'Credits', 'Reserved', 'Spent', 'This month', 'Running', 'Waiting'];
const NUMBERS = new Set(['Run time', ...COST_TITLES, 'Reserved', 'Spent', 'This month', 'Running', 'Waiting', 'Jobs']);

export interface ShownUsage {
  /** Each hour of today (UTC). */
  readonly today: readonly Slot[];
  /** Each day of this month. */
  readonly month: readonly Slot[];
  /** Micro-credits that accounts were charged this month. */
  readonly chargedOf: ReadonlyMap<string, number>;
}

interface AccountRow {
  readonly account: StoredAccount;
  readonly balances: Balances;
  readonly queued: number;
  readonly active: number;
}

export interface ShownService {
  readonly version: string;
  readonly health: HealthReport;
  readonly counts: readonly { readonly state: string; readonly machineClass: string; readonly count: number }[];
  /** The unfinished jobs that were submitted first. */
  readonly oldest: readonly StoredJob[];
  readonly usage: ShownUsage;
  /** The first accounts by ID. */
  readonly accounts: readonly AccountRow[];
  /** How many there are. */
  readonly accountCount: number;
}

/** The operator's page. It changes nothing. @param now milliseconds since 1970. */
export function operatorView(service: ShownService, now: number): Html {
  const { version, health, usage, accounts, accountCount } = service;
  const running = sum(service, (state) => state !== 'queued');
  const waiting = sum(service, (state) => state === 'queued');
  const figures: [string, string | Html][] = [
    ['Service', html`<span class="state ${KINDS[health.status]}">${health.status}</span>`],
    ['Running', formatInteger(running)],
    ['Waiting', formatInteger(waiting)],
    ['Accounts', formatInteger(accountCount)],
    ['Version', version],
  ];
  const left = accountCount - accounts.length;
  const body = html`${facts(figures, 'figures')}
    <nav class="pages" aria-label="Page"><a href="/">Reload</a><span class="quiet">as of ${shownTime(now)} UTC</span></nav>
    <h2>Health</h2>
    ${table('Parts of the service', ['Part', 'Status', 'What is known'], healthRows(health), NUMBERS)}
    <h2>Queue</h2>
    ${queue(service, running + waiting, now)}
    <h2>Usage</h2>
    <div class="plots">${barPlot('Today', usage.today)}${barPlot('This month', usage.month)}</div>
    <h2>Accounts</h2>
    ${table(
      `${formatCount(accounts.length, 'account')}; credits available, reserved for unfinished jobs, and spent`,
      ACCOUNT_HEAD,
      accounts.map((row) => accountRow(row, usage)),
      NUMBERS,
    )}
    ${left > 0 && html`<p class="quiet">${formatInteger(left)} more: <code>farwharf admin account list</code></p>`}`;
  return document({ title: 'Operator', who: 'operator', body });
}

function healthRows({ parts }: HealthReport): readonly Html[] {
  return Object.entries(parts).map(
    ([name, { status, message }]) =>
      html`<tr><th scope="row">${name}</th><td><span class="state ${KINDS[status]}">${status}</span></td><td class="words">${printableLine(message)}</td></tr>`,
  );
}

function queue({ counts, oldest }: ShownService, unfinished: number, now: number): Html {
  if (unfinished === 0) return html`<p class="quiet">No job runs or waits.</p>`;
  const rows = counts.map(
    ({ state, machineClass, count }) =>
      html`<tr><th scope="row">${shownName(machineClass)}</th><td>${state}</td><td class="number">${formatInteger(count)}</td></tr>`,
  );
  const caption =
    unfinished > oldest.length
      ? `The ${formatInteger(oldest.length)} unfinished jobs that were submitted first`
      : 'Unfinished jobs, oldest first';
  return html`${table('Unfinished jobs by machine class', ['Machine class', 'State', 'Jobs'], rows, NUMBERS)}
    <p></p>
    ${table(
      caption,
      [...JOB_HEAD, costTitle(oldest)],
      oldest.map((job) => jobRow(job, now)),
      NUMBERS,
    )}`;
}

function jobRow(job: StoredJob, now: number): Html {
  return html`<tr>
    <th scope="row"><code>${job.id}</code></th>
    <td>${job.account}</td>
    <td class="name">${shownName(job.script)}</td>
    <td class="words">${shownState(job.state)}${shownReason(job)}</td>
    <td>${shownName(job.machineClass)}</td>
    <td class="time">${shownTime(job.createdAt)}</td>
    <td class="number">${shownRuntime(job, now)}</td>
    <td class="number">${shownCost(job, now)}</td>
  </tr>`;
}

function accountRow({ account, balances, queued, active }: AccountRow, { chargedOf }: ShownUsage): Html {
  const { id, name, disabledAt } = account;
  const { available, held, spent } = balances;
  return html`<tr>
    <th scope="row" class="name">${id}</th>
    <td class="name">${shownName(name)}</td>
    <td>${disabledAt === null ? 'enabled' : html`<span class="state warn">disabled</span>`}</td>
    <td class="number">${shownCredits(available)}</td>
    <td class="number">${shownCredits(held)}</td>
    <td class="number">${shownCredits(spent)}</td>
    <td class="number">${shownCredits(chargedOf.get(id) ?? 0)}</td>
    <td class="number">${formatInteger(active)}</td>
    <td class="number">${formatInteger(queued)}</td>
  </tr>`;
}

function sum({ counts }: ShownService, isCounted: (state: string) => boolean): number {
  return counts.reduce((total, { state, count }) => total + (isCounted(state) ? count : 0), 0);
}
