import { randomUUID } from 'node:crypto';
import { formatCount, formatCredits } from '../../core/text/format.ts';
import type { OperationOutput } from '../../service/admin/operations.ts';
import { LOCAL_ACCOUNT } from '../../service/store/accounts/accountTable.ts';
import type { GrantAllFlags, GrantFlags, ListCreditsFlags } from './adminFlags.ts';
import { askAdmin, findAdmin } from './adminService.ts';
import type { Context } from '../command/commandContext.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import { parseCredits } from './adminAccounts.ts';

const COLUMNS: readonly RecordColumn<OperationOutput<'credits.list'>['entries'][number]>[] = [
  { title: 'WHEN (UTC)', cell: ({ at }) => at.slice(0, 16).replace('T', ' ') },
  { title: 'WHAT', cell: ({ kind }) => kind },
  { title: 'CREDITS', cell: ({ credits }) => formatCredits(credits), align: 'right' },
  { title: 'REFERENCE', cell: ({ reference }) => reference, dropOrder: 2 },
  { title: 'NOTE', cell: ({ note }) => note ?? '', minWidth: 8, dropOrder: 1 },
];

/** `farwharf admin credits grant ACCOUNT AMOUNT`. JSON: whether the grant is new, and the account. */
export async function grantCredits(
  context: Context,
  id: string,
  flags: GrantFlags,
  [amountText = '']: readonly string[],
): Promise<void> {
  const { terminal } = context;
  const { note, reference = randomUUID() } = flags;
  const amount = parseCredits(amountText);
  const answer = await askAdmin(context, flags, 'credits.grant', { account_id: id, amount, reference, note });
  if (answer === undefined) return;
  const done =
    amount > 0 ? `${formatCredits(amount)} credits were given to` : `${formatCredits(-amount)} credits were taken from`;
  const left = `it has ${formatCredits(answer.account.credits_available)}.`;
  terminal.answer(
    answer.is_new ? `${done} ${id}: ${left}` : `No change: "${reference}" was already granted. ${id}: ${left}`,
  );
}

/**
 * `farwharf admin credits grant-all AMOUNT`: grants credits to every enabled account except the service's own, once per reference. It can be
 * repeated after an interruption. JSON: `{ reference, accounts: [...] }`, those that got it now.
 */
export async function grantToAll(context: Context, amountText: string, flags: GrantAllFlags): Promise<void> {
  const { terminal } = context;
  const { note, reference = `month-${new Date().toISOString().slice(0, 7)}` } = flags;
  const amount = parseCredits(amountText);
  using admin = await findAdmin(context, flags);
  const { accounts } = await admin.call('accounts.list', {});
  const granted: string[] = [];
  for (const { account_id: id, disabled_at: disabledAt } of accounts) {
    if (disabledAt !== null || id === LOCAL_ACCOUNT) continue;
    const { is_new: isNew } = await admin.call('credits.grant', { account_id: id, amount, reference, note });
    if (isNew) granted.push(id);
  }
  if (terminal.json({ reference, accounts: granted })) return;
  const rest = granted.length === 0 ? ' Every account already has it.' : '';
  terminal.answer(
    `${formatCredits(amount)} credits were granted to ${formatCount(granted.length, 'account')} for "${reference}".${rest}`,
  );
}

/** `farwharf admin credits list ACCOUNT`. JSON: `{ entries: [...] }`. */
export async function listCredits(context: Context, id: string, flags: ListCreditsFlags): Promise<void> {
  const answer = await askAdmin(context, flags, 'credits.list', { account_id: id, limit: flags.limit });
  const none = `Account ${id} has no entries yet.`;
  if (answer !== undefined) answerTable(context.terminal, COLUMNS, answer.entries, { none });
}
