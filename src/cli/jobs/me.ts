import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { readBalance, readRateCard } from '../../jobs/submit/estimate.ts';
import type { Context } from '../command/context.ts';
import { Session } from '../session/session.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

const COLUMNS: readonly RecordColumn<ReturnType<typeof readRateCard>[number]>[] = [
  { title: 'MACHINE', cell: ({ machineClass }) => machineClass ?? 'default' },
  { title: 'CREDITS/MIN', cell: ({ creditsPerMinute }) => formatCredits(creditsPerMinute), align: 'right' },
  { title: 'DESCRIPTION', cell: ({ description }) => description ?? '', minWidth: 11, dropOrder: 1 },
];

/** `farwharf me`: credits, plan and rate card. JSON: the service's own account object. */
export async function showAccount(context: Context): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const account = await (await session.client()).me({ signal });
  if (terminal.json(account)) return;
  const balance = readBalance(account);
  const credits = balance === null ? 'Credits unknown' : `${formatCredits(balance)} credits`;
  const plan = account.plan ? `, plan ${printableLine(account.plan)}` : '';
  terminal.answer(`${credits}${plan} on ${session.hostName}.`);
  const rates = readRateCard(account);
  if (rates.length === 0) return;
  terminal.answer('');
  answerTable(terminal, COLUMNS, rates);
}
