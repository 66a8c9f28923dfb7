import { randomUUID } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type AdminFlags, findAdmin } from './adminService.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';
import { type Column, formatTable } from '../terminal/table.ts';
import { parseCredits } from './accounts.ts';

const COLUMNS: readonly Column[] = [
  { title: 'WHEN (UTC)' },
  { title: 'WHAT' },
  { title: 'CREDITS', align: 'right' },
  { title: 'REFERENCE', dropOrder: 2 },
  { title: 'NOTE', minWidth: 8, dropOrder: 1 },
];

interface GrantFlags extends AdminFlags {
  readonly note?: string;
  readonly reference?: string;
}

/** `farwharf admin credits grant ACCOUNT AMOUNT`. JSON: whether it is new, and the account. */
export async function grantCredits(
  context: Context,
  id: string,
  flags: GrantFlags,
  [amountText = '']: readonly string[],
): Promise<number> {
  const { terminal } = context;
  const { note, reference = randomUUID() } = flags;
  const amount = parseCredits(amountText);
  using admin = await findAdmin(context, flags);
  const answer = await admin.call('credits.grant', {
    account_id: id,
    amount,
    reference,
    ...(note !== undefined && { note }),
  });
  terminal.json(answer);
  if (terminal.isJson) return EXIT.done;
  const done =
    amount > 0 ? `${formatCredits(amount)} credits were given to` : `${formatCredits(-amount)} credits were taken from`;
  const left = `it has ${formatCredits(answer.account.credits_available)}.`;
  terminal.answer(
    answer.is_new ? `${done} ${id}: ${left}` : `No change: "${reference}" was already granted. ${id}: ${left}`,
  );
  return EXIT.done;
}

/** `farwharf admin credits list ACCOUNT`. JSON: `{ entries: [...] }`. */
export async function listCredits(
  context: Context,
  id: string,
  flags: AdminFlags & { readonly limit: string },
): Promise<number> {
  const { terminal } = context;
  if (!/^[1-9]\d{0,3}$/.test(flags.limit)) throw new AppError('bad-input', '--limit: write a number from 1 to 9999.');
  using admin = await findAdmin(context, flags);
  const { entries } = await admin.call('credits.list', { account_id: id, limit: Number(flags.limit) });
  terminal.json({ entries });
  if (terminal.isJson) return EXIT.done;
  if (entries.length === 0) terminal.answer(`Account ${id} has no entries yet.`);
  const rows = entries.map(({ at, kind, credits, reference, note }) => [
    at.slice(0, 16).replace('T', ' '),
    kind,
    formatCredits(credits),
    printableLine(reference),
    printableLine(note ?? ''),
  ]);
  if (rows.length > 0) {
    for (const line of formatTable(COLUMNS, rows, terminal.answerColumns)) terminal.answer(line);
  }
  return EXIT.done;
}
