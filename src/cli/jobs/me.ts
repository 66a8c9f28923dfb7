import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { readBalance, readRateCard } from '../../jobs/submit/estimate.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';
import { Session } from './session.ts';
import { type Column, formatTable } from '../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'MACHINE' },
  { title: 'CREDITS/MIN', align: 'right' },
  { title: 'DESCRIPTION', minWidth: 11, dropOrder: 1 },
];

/** `farwharf me`: credits, plan and rate card. JSON: the service's own account object. */
export async function showAccount(context: Context): Promise<number> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const account = await (await session.client()).me({ signal });
  if (terminal.isJson) {
    terminal.json(account);
    return EXIT.done;
  }
  const balance = readBalance(account);
  const credits = balance === null ? 'Credits unknown' : `${formatCredits(balance)} credits`;
  const plan = account.plan ? `, plan ${printableLine(account.plan)}` : '';
  terminal.answer(`${credits}${plan} on ${session.hostName}.`);
  const rates = readRateCard(account);
  if (rates.length === 0) return EXIT.done;
  const rows = rates.map(({ machineClass, creditsPerMinute, description }) => [
    printableLine(machineClass ?? 'default'),
    formatCredits(creditsPerMinute),
    printableLine(description ?? ''),
  ]);
  terminal.answer('');
  for (const line of formatTable(COLUMNS, rows, terminal.answerColumns)) terminal.answer(line);
  return EXIT.done;
}
