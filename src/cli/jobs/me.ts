import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { currentPeriods, describeSpending } from '../../jobs/ledger/spending.ts';
import { readBalance, readRateCard } from '../../jobs/submit/estimate.ts';
import type { Context } from '../command/context.ts';
import { Session } from '../session/session.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

const COLUMNS: readonly RecordColumn<ReturnType<typeof readRateCard>[number]>[] = [
  { title: 'MACHINE', cell: ({ machineClass }) => machineClass ?? 'default' },
  { title: 'CREDITS/MIN', cell: ({ creditsPerMinute }) => formatCredits(creditsPerMinute), align: 'right' },
  { title: 'DESCRIPTION', cell: ({ description }) => description ?? '', minWidth: 11, dropOrder: 1 },
];

/**
 * `farwharf me`: credits, plan, rate card, and what the jobs of this machine were charged. JSON: the service's own account object, and
 * `spent`: `[{ project, today, this_month }]`.
 */
export async function showAccount(context: Context): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const account = await (await session.client()).me({ signal });
  const spent = session.ledger.spending(session.host, currentPeriods(Date.now()));
  const asJson = spent.map(({ project, today, thisMonth }) => ({ project, today, this_month: thisMonth }));
  if (terminal.json({ ...account, spent: asJson })) return;
  const balance = readBalance(account);
  const credits = balance === null ? 'Credits unknown' : `${formatCredits(balance)} credits`;
  const plan = account.plan ? `, plan ${printableLine(account.plan)}` : '';
  terminal.answer(`${credits}${plan} on ${session.hostName}.`);
  const spending = describeSpending(spent);
  if (spending !== undefined) terminal.answer(`Spent by jobs from this machine: ${printableLine(spending)}.`);
  const rates = readRateCard(account);
  if (rates.length === 0) return;
  terminal.answer('');
  answerTable(terminal, COLUMNS, rates);
}
