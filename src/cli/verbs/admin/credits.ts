import { randomUUID } from 'node:crypto';
import { formatCredits } from '../../../core/format.ts';
import { type AdminFlags, findAdmin } from '../../adminService.ts';
import type { Context } from '../../context.ts';
import { EXIT } from '../../exit.ts';
import { parseCredits } from './accounts.ts';

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
    answer.is_new ? `${done} ${id}: ${left}` : `Nothing was done: "${reference}" was granted before. ${id}: ${left}`,
  );
  return EXIT.done;
}
