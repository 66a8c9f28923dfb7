import { AppError } from '../../core/errors.ts';
import { formatCredits } from '../../core/text/format.ts';
import type { AdminKey } from '../../service/admin/keyOperations.ts';
import type { AddKeyFlags, AdminFlags } from './adminFlags.ts';
import { parseCredits } from './adminAccounts.ts';
import { askAdmin } from './adminService.ts';
import { SCOPES, type KeyScope } from '../../service/store/accounts/apiKeys.ts';
import { adminCommand } from './dataFolder.ts';
import type { Context } from '../command/commandContext.ts';
import { isDay, periodMs } from './days.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';

const COLUMNS: readonly RecordColumn<AdminKey>[] = [
  { title: 'KEY', cell: (key) => key.key_id },
  { title: 'ACCOUNT', cell: (key) => key.account_id, dropOrder: 5 },
  { title: 'LABEL', cell: ({ label }) => label, minWidth: 8, dropOrder: 4 },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'MADE', cell: (key) => formatAge(key.created_at), dropOrder: 1 },
  {
    title: 'LAST USED',
    cell: (key) => (key.last_used_at === null ? 'never' : formatAge(key.last_used_at)),
    dropOrder: 3,
  },
  {
    title: 'LEFT',
    cell: ({ budget, budget_left: left }) =>
      budget === null || left === null ? '' : `${formatCredits(left)} of ${formatCredits(budget)}`,
    align: 'right',
    dropOrder: 6,
  },
  { title: 'SCOPES', cell: ({ scopes }) => scopes?.join(',') ?? 'all', dropOrder: 0 },
  { title: 'EXPIRES', cell: (key) => key.expires_at?.slice(0, 16).replace('T', ' ') ?? 'never', dropOrder: 2 },
];

/** `farwharf admin key add ACCOUNT`: prints only the key on stdout. JSON: the key with its properties. */
export async function addKey(context: Context, account: string, flags: AddKeyFlags): Promise<void> {
  const { terminal } = context;
  const { label, expires, budget, scope } = flags;
  const key = await askAdmin(context, flags, 'keys.add', {
    account_id: account,
    ...(label !== undefined && { label }),
    ...(expires !== undefined && { expires_at: parseExpiry(expires, Date.now()) }),
    ...(budget !== undefined && { budget: parseCredits(budget) }),
    ...(scope !== undefined && { scopes: parseScopes(scope) }),
  });
  if (key === undefined) return;
  const until = key.expires_at === null ? 'does not expire' : `expires at ${key.expires_at}`;
  const cost = key.budget === null ? '' : ` All its jobs together can cost ${formatCredits(key.budget)} credits.`;
  const uses = key.scopes === null ? '' : ` Its scopes are ${key.scopes.join(', ')}.`;
  terminal.note(`Key ${key.key_id} of ${account}, which ${until}.${cost}${uses} This key is shown only once:`);
  terminal.answer(key.key);
  terminal.note('Use it:  FARWHARF_REMOTE_HOST=URL FARWHARF_API_KEY=… farwharf me');
}

/** `farwharf admin key list [ACCOUNT]`. JSON: `{ keys: [...] }`. */
export async function listKeys(context: Context, account: string, flags: AdminFlags): Promise<void> {
  const answer = await askAdmin(context, flags, 'keys.list', account === '' ? {} : { account_id: account });
  if (answer === undefined) return;
  const hint = `Create one:  ${adminCommand(`key add ${account || 'ACCOUNT'}`, flags)}`;
  answerTable(context.terminal, COLUMNS, answer.keys, { none: 'No keys yet.', hint });
}

/** `farwharf admin key rotate KEY`: prints only the new key on stdout. JSON: the new key with its properties. */
export async function rotateKey(context: Context, id: string, flags: AdminFlags): Promise<void> {
  const key = await askAdmin(context, flags, 'keys.rotate', { key_id: id });
  if (key === undefined) return;
  const { terminal } = context;
  terminal.note(
    `Key ${id} of ${key.account_id} is revoked. Key ${key.key_id} replaces it, with the same restrictions. It is shown only once:`,
  );
  terminal.answer(key.key);
}

/** `farwharf admin key revoke KEY`. JSON: the key's state. */
export async function revokeKey(context: Context, id: string, flags: AdminFlags): Promise<void> {
  const key = await askAdmin(context, flags, 'keys.revoke', { key_id: id });
  if (key !== undefined) context.terminal.answer(`Key ${id} of ${key.account_id} is revoked and no longer works.`);
}

/** @throws AppError `bad-input`. */
function parseScopes(text: string): KeyScope[] {
  return text.split(',').map((name) => {
    const scope = SCOPES.find((known) => known === name.trim());
    if (scope !== undefined) return scope;
    throw new AppError(
      'bad-input',
      `Invalid scope "${name}" for --scope. Enter one or more of ${SCOPES.join(', ')}, separated by commas.`,
    );
  });
}

/** The end of a day (UTC), or a time from now. @throws AppError `bad-input`. */
function parseExpiry(text: string, now: number): string {
  const period = periodMs(text);
  if (period !== undefined) return new Date(now + period).toISOString();
  if (isDay(text)) return `${text}T23:59:59.999Z`;
  throw new AppError(
    'bad-input',
    `Invalid value "${text}" for --expires. Enter a day such as 2027-01-31, or a period such as 90d or 12h.`,
  );
}
