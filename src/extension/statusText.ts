import * as l10n from '@vscode/l10n';
import { shownScript } from '../jobs/selection/script.ts';
import { formatCredits, formatDuration, plural } from '../core/text/format.ts';
import { describeSpending, type ProjectSpending } from '../jobs/ledger/spending.ts';
import { balanceNow, secondsUntilEmpty } from '../jobs/plan/balance.ts';
import type { BudgetState } from '../jobs/plan/budgetCheck.ts';
import { describeForecast, hasNoCredits } from '../jobs/plan/estimate.ts';
import { describeJob } from '../jobs/report/describeJob.ts';
import { isFrozen } from '../jobs/report/frozenText.ts';
import { isActive, type JobRecord } from '../jobs/ledger/record.ts';
import type { AccountView, ConnectionState } from './account/account.ts';
import { escapeMarkdown } from './ui/markdown.ts';
import { hostLabel } from './ui/words.ts';

const NAME = 'Farwharf';
const NAMED_JOBS = 5;

export interface StatusFacts {
  /** Undefined if the selected one cannot be used. */
  readonly host: string | undefined;
  readonly state: ConnectionState;
  /** Why the service refuses the account, if it does. */
  readonly refusal: string | undefined;
  readonly account: AccountView | undefined;
  readonly jobs: readonly JobRecord[];
  /** What jobs of this host were charged. */
  readonly spent: readonly ProjectSpending[];
  /** Of projects on this host. */
  readonly budgets: readonly BudgetState[];
  /** Whether a folder is open, which can be submitted. */
  readonly hasFolder: boolean;
  /** Fewer credits than this trigger a warning. */
  readonly lowCredits: number;
  /** Milliseconds. */
  readonly now: number;
}

type HostFacts = StatusFacts & { readonly host: string };

export interface StatusView {
  readonly text: string;
  readonly spoken: string;
  /** Markdown whose only links are commands of our own. */
  readonly tooltip: string;
  /** Run by a click. */
  readonly command: string;
  readonly isWarning: boolean;
}

/** The status bar item. */
export function statusView({ host, ...rest }: StatusFacts): StatusView {
  if (host === undefined) return unusableHostView();
  const facts: HostFacts = { host, ...rest };
  if (facts.state === 'signedOut') return signedOutView(facts);
  if (facts.state === 'refused') return refusedView(facts);
  const running = facts.jobs.filter(isActive);
  const shown = shownBalance(facts, running);
  const amount = shown === null ? '' : l10n.t('{0} cr', formatCredits(shown));
  const isDown = facts.state === 'unreachable';
  const frozen = running.filter(isFrozen);
  const icon = isDown
    ? '$(debug-disconnect)'
    : frozen.length > 0
      ? '$(debug-pause)'
      : running.length > 0
        ? '$(sync~spin)'
        : '$(rocket)';
  const count = running.length > 0 ? `${running.length}${amount === '' ? '' : ' · '}` : '';
  return {
    text: `${icon} ${count}${amount}`.trim(),
    spoken: spokenText(facts, running.length, shown),
    tooltip: tooltip(facts, running, shown),
    command: 'farwharf.jobs.focus',
    isWarning:
      frozen.length > 0 ||
      facts.budgets.some(isOverBudget) ||
      (shown !== null && (shown < facts.lowCredits || secondsLeft(facts, running, shown) !== undefined)),
  };
}

function unusableHostView(): StatusView {
  const problem = l10n.t('The selected host cannot be used. Select another one to submit jobs.');
  return {
    text: `$(warning) ${l10n.t('Select Host')}`,
    spoken: [NAME, problem].join(', '),
    tooltip: problem,
    command: 'farwharf.selectHost',
    isWarning: true,
  };
}

function signedOutView({ host }: HostFacts): StatusView {
  const name = hostLabel(host);
  return {
    text: `$(key) ${l10n.t('Sign In')}`,
    spoken: l10n.t('Farwharf, sign in to {0}', name),
    tooltip: l10n.t(
      '**Farwharf** on {0}\n\nSign in with the API key of your account. Jobs that are running there are not affected.',
      escapeMarkdown(name),
    ),
    command: 'farwharf.signIn',
    isWarning: false,
  };
}

function refusedView({ host, refusal = '' }: HostFacts): StatusView {
  const name = hostLabel(host);
  return {
    text: `$(circle-slash) ${l10n.t('Account Refused')}`,
    spoken: [NAME, l10n.t('{0} refuses your account', name)].join(', '),
    tooltip: `${l10n.t('**Farwharf** on {0}', escapeMarkdown(name))}\n\n${escapeMarkdown(refusal)}`,
    command: 'farwharf.selectHost',
    isWarning: true,
  };
}

/** Credits left now; null if the service does not say. */
function shownBalance({ account, host, now }: HostFacts, running: readonly JobRecord[]): number | null {
  if (account === undefined || account.balance === null) return null;
  const jobsOfHost = running.filter((record) => record.host === host);
  return balanceNow({ balance: account.balance, asOf: account.asOf }, jobsOfHost, now);
}

/** Seconds until the credits are used up; undefined if they are enough for the time limits of all jobs that are running there. */
function secondsLeft({ host, now }: HostFacts, running: readonly JobRecord[], balance: number): number | undefined {
  const jobsOfHost = running.filter((record) => record.host === host);
  return secondsUntilEmpty(balance, jobsOfHost, now);
}

function spokenText(facts: HostFacts, running: number, balance: number | null): string {
  const parts = [NAME];
  if (facts.state === 'unreachable') parts.push(l10n.t('{0} does not respond', hostLabel(facts.host)));
  if (running > 0) parts.push(plural(running, l10n.t('1 job runs'), l10n.t('{0} jobs run')));
  if (balance !== null) parts.push(l10n.t('{0} credits left', formatCredits(balance)));
  return parts.join(', ');
}

function tooltip(facts: HostFacts, running: readonly JobRecord[], balance: number | null): string {
  const { host, state, account, now, spent } = facts;
  const lines = [l10n.t('**Farwharf** on {0}', escapeMarkdown(hostLabel(host)))];
  if (state === 'unreachable')
    lines.push(l10n.t('The service does not respond. Jobs that are running there are not affected.'));
  if (account) {
    const plan = account.plan === null ? [] : [l10n.t('plan {0}', escapeMarkdown(account.plan))];
    const amount = hasNoCredits(account.rates)
      ? l10n.t('Jobs cost no credits')
      : balance === null
        ? l10n.t('The service does not report a balance')
        : l10n.t('{0} credits', formatCredits(balance));
    const time = new Date(account.asOf).toLocaleTimeString(undefined, { timeStyle: 'short' });
    lines.push(l10n.t('{0} · as of {1}', [amount, ...plan].join(', '), time));
    const seconds = balance === null ? undefined : secondsLeft(facts, running, balance);
    if (seconds !== undefined) {
      lines.push(
        `$(warning) ${l10n.t('If the running jobs use all of their time, credits end in {0}.', formatDuration(seconds))}`,
      );
    }
    const spending = describeSpending(spent);
    if (spending !== undefined) lines.push(l10n.t('Spent by jobs from this machine: {0}', escapeMarkdown(spending)));
    if (facts.budgets.length > 0) lines.push(budgetTable(facts.budgets));
    if (account.rates.length > 0) lines.push(rateTable(account));
  } else {
    lines.push(l10n.t('The balance appears after the first request to the service.'));
  }
  if (running.length > 0) lines.push(runningTable(running, now));
  const links = [
    ...(facts.hasFolder ? [`[${l10n.t('Submit Workspace')}](command:farwharf.submitWorkspace)`] : []),
    `[${l10n.t('Jobs')}](command:farwharf.jobs.focus)`,
    `[${l10n.t('Select Host')}](command:farwharf.selectHost)`,
    `[${l10n.t('Set Budget')}](command:farwharf.setBudget)`,
  ];
  lines.push(links.join(' · '));
  return lines.join('\n\n');
}

/** Whether what was spent and reserved this month is above the soft budget, or above the hard one if there is no soft one. */
function isOverBudget({ budget, spent, reserved }: BudgetState): boolean {
  return spent + reserved > (budget.soft ?? budget.hard ?? Number.POSITIVE_INFINITY);
}

function budgetTable(budgets: readonly BudgetState[]): string {
  const rows = budgets.map((state) => {
    const { project, budget, spent, reserved } = state;
    const name = `${isOverBudget(state) ? '$(warning) ' : ''}${escapeMarkdown(project === '' ? l10n.t('no project') : project)}`;
    const limits = [budget.soft, budget.hard].map((limit) => (limit === undefined ? '' : formatCredits(limit)));
    return `| ${name} | ${formatCredits(spent)} | ${formatCredits(reserved)} | ${limits.join(' | ')} |`;
  });
  const names = [
    l10n.t('Budget this month'),
    l10n.t('Spent'),
    l10n.t('Reserved'),
    l10n.t('Warns above'),
    l10n.t('Blocks above'),
  ];
  const head = [`| ${names.join(' | ')} |`, '|:--|--:|--:|--:|--:|'];
  return [...head, ...rows].join('\n');
}

function rateTable({ rates }: AccountView): string {
  const rows = rates.map(({ machineClass, creditsPerMinute, description }) => {
    const price = creditsPerMinute === null ? l10n.t('no price') : formatCredits(creditsPerMinute);
    return [escapeMarkdown(machineClass ?? l10n.t('any')), price, escapeMarkdown(description ?? '')];
  });
  const shown = hasNoCredits(rates)
    ? [[l10n.t('Machine class'), ''], [':--', ':--'], ...rows.map(([name = '', , about = '']) => [name, about])]
    : [[l10n.t('Machine class'), l10n.t('Credits a minute'), ''], [':--', '--:', ':--'], ...rows];
  return shown.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function runningTable(running: readonly JobRecord[], now: number): string {
  const rows = running.slice(0, NAMED_JOBS).map((record) => {
    const [icon, text] = isFrozen(record)
      ? ['debug-pause', describeJob(record, now)]
      : ['sync~spin', describeForecast(record, now) ?? ''];
    return `| $(${icon}) ${escapeMarkdown(shownScript(record.script))} | ${escapeMarkdown(text)} |`;
  });
  const rest = running.length - rows.length;
  if (rest > 0) rows.push(`| ${plural(rest, l10n.t('and 1 more job'), l10n.t('and {0} more jobs'))} | |`);
  return [`| ${l10n.t('Running')} | |`, '|:--|:--|', ...rows].join('\n');
}
