import { resolve } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { formatBytes, formatCount, formatCredits, formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';
import { withoutByteOrderMark } from '../../core/text/textEncoding.ts';
import type { AdminAccount } from '../../service/admin/accountOperations.ts';
import type { AddAccountFlags, AdminFlags, EditAccountFlags, LimitFlags, LinkFlags } from './adminFlags.ts';
import { askAdmin, findAdmin } from './adminService.ts';
import { adminCommand } from './dataFolder.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { periodMs } from './days.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

const COLUMNS: readonly RecordColumn<AdminAccount>[] = [
  { title: 'ACCOUNT', cell: (account) => account.account_id },
  { title: 'NAME', cell: ({ name }) => name, minWidth: 8, dropOrder: 5 },
  { title: 'PLAN', cell: ({ plan }) => plan, dropOrder: 1 },
  { title: 'GROUP', cell: ({ group }) => group ?? '', dropOrder: 1 },
  { title: 'CREDITS', cell: (account) => formatCredits(account.credits_available), align: 'right' },
  { title: 'HELD', cell: (account) => formatCredits(account.credits_held), align: 'right', dropOrder: 3 },
  { title: 'SPENT', cell: (account) => formatCredits(account.credits_spent), align: 'right', dropOrder: 2 },
  { title: 'RUNNING', cell: (account) => String(account.active_jobs), align: 'right', dropOrder: 6 },
  { title: 'WAITING', cell: (account) => String(account.queued_jobs), align: 'right', dropOrder: 4 },
  { title: 'STATE', cell: (account) => (account.disabled_at === null ? '' : 'disabled') },
];
const BYTES_OF_GB = 1e9;
const MAX_IMPORT_BYTES = 1e6;
const IMPORT_COLUMNS: ReadonlySet<string> = new Set(['account', 'name', 'plan', 'group', 'credits']);
/** The flag that sets a limit of an account, its field, and its name for people. */
const LIMITS = [
  ['runningJobs', 'running_jobs', 'running jobs'],
  ['queuedJobs', 'queued_jobs', 'queued jobs'],
  ['uploadGb', 'upload_bytes', 'upload'],
  ['diskGb', 'disk_bytes', 'disk'],
  ['runTime', 'run_time', 'time limit of a job'],
  ['uploads', 'uploads', 'uploads at once'],
  ['streams', 'streams', 'streams at once'],
  ['requestsPerMinute', 'requests_per_minute', 'requests per minute'],
] as const;
const IN_BYTES: ReadonlySet<string> = new Set(['uploadGb', 'diskGb']);
const ISOLATION_NOTE =
  'With more than one account, jobs start only if they are isolated or the configuration sets isolation = "none". Check with:  farwharf serve --check';

/** `farwharf admin account add ID`. JSON: the account. */
export async function addAccount(context: Context, id: string, flags: AddAccountFlags): Promise<void> {
  const { name, plan, credits, group } = flags;
  using admin = await findAdmin(context, flags, { mayCreate: true });
  const account = await admin.call('accounts.add', {
    account_id: id,
    name,
    plan,
    group,
    ...(credits !== undefined && { credits: parseCredits(credits) }),
  });
  const has = account.credits_available === 0 ? 'without credits' : `with ${creditsOf(account)}`;
  answerAccount(context, account, `Account ${id} was added, ${has}.`);
  if (account.warning !== undefined) context.terminal.note(account.warning);
  else if (!admin.isServiceRunning) context.terminal.note(ISOLATION_NOTE);
  if (account.credits_available === 0)
    context.terminal.note(`Add credits:  ${adminCommand(`credits grant ${id} 100`, flags)}`);
  context.terminal.note(`Add a key:    ${adminCommand(`key add ${id}`, flags)}`);
}

/** `farwharf admin account list`. JSON: `{ accounts: [...] }`. */
export async function listAccounts(context: Context, _: string, flags: AdminFlags): Promise<void> {
  const answer = await askAdmin(context, flags, 'accounts.list', {});
  if (answer !== undefined) answerTable(context.terminal, COLUMNS, answer.accounts);
}

/** `farwharf admin account show ID`. JSON: the account. */
export async function showServiceAccount(context: Context, id: string, flags: AdminFlags): Promise<void> {
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.show', { account_id: id });
  const state = account.disabled_at === null ? '' : `, disabled since ${account.disabled_at}`;
  const jobs = `${formatCount(account.active_jobs, 'job')} running, ${account.queued_jobs} waiting`;
  answerAccount(
    context,
    account,
    `${describe(account)}${state}`,
    `${creditsOf(account)}, ${formatCredits(account.credits_held)} held, ${formatCredits(account.credits_spent)} spent; ${jobs}`,
    describeLimits(account),
    ...(account.identity === null
      ? []
      : [`signs in as ${printableLine(account.identity.subject)} at ${printableLine(account.identity.issuer)}`]),
  );
}

/** `farwharf admin account edit ID`: changes what is named. JSON: the account. */
export async function editAccount(context: Context, id: string, flags: EditAccountFlags): Promise<void> {
  const { name, plan } = flags;
  const group = flags.group === 'none' ? null : flags.group;
  if (name === undefined && plan === undefined && group === undefined)
    throw new AppError('bad-input', 'Nothing to change. Use --name, --plan, --group, or several of them.');
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.edit', { account_id: id, name, plan, group });
  answerAccount(context, account, describe(account));
}

/** `farwharf admin account link ID`: makes it the account of a person who signs in. JSON: the account. */
export async function linkAccount(context: Context, id: string, flags: LinkFlags): Promise<void> {
  const { issuer, subject } = flags;
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.link', { account_id: id, issuer, subject });
  answerAccount(context, account, `Account ${id} is that of ${printableLine(subject)} at ${printableLine(issuer)}.`);
}

/** `farwharf admin account unlink ID`. JSON: the account. */
export async function unlinkAccount(context: Context, id: string, flags: AdminFlags): Promise<void> {
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.unlink', { account_id: id });
  answerAccount(context, account, `Nobody can sign in to account ${id} any more. Its keys work as before.`);
}

/** `farwharf admin account disable ID`. JSON: the account. */
export async function disableAccount(context: Context, id: string, flags: AdminFlags): Promise<void> {
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.disable', { account_id: id });
  const waiting = account.queued_jobs;
  const jobs = waiting === 0 ? '' : ` ${formatCount(waiting, 'waiting job')} will not start.`;
  answerAccount(context, account, `Account ${id} is disabled, and its keys are refused.${jobs}`);
  context.terminal.note(`Undo:  ${adminCommand(`account enable ${id}`, flags)}`);
}

/** `farwharf admin account delete ID`. JSON: the account. */
export async function deleteAccount(context: Context, id: string, flags: AdminFlags): Promise<void> {
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.delete', { account_id: id });
  answerAccount(
    context,
    account,
    `Account ${id} is deleted: its keys, its sign-in and its secrets. Its jobs and credits stay in the books.`,
  );
}

/** `farwharf admin account import FILE`: adds the accounts of a file, and continues after one that cannot be added. JSON: `{ accounts, failed }`. */
export async function importAccounts(context: Context, path: string, flags: AdminFlags): Promise<number> {
  const { terminal, cwd } = context;
  const selectedAccounts = parseAccounts(
    withoutByteOrderMark(await readNamedFile(resolve(cwd, path), { name: path, maxBytes: MAX_IMPORT_BYTES })),
  );
  using admin = await findAdmin(context, flags, { mayCreate: true });
  const accounts: AdminAccount[] = [];
  const failed: { readonly account_id: string; readonly error: string }[] = [];
  for (const { credits, ...account } of selectedAccounts) {
    try {
      accounts.push(
        await admin.call('accounts.add', {
          ...account,
          ...(credits !== undefined && { credits: parseCredits(credits) }),
        }),
      );
    } catch (error) {
      failed.push({ account_id: account.account_id, error: messageOf(error) });
      terminal.note(`${printableLine(account.account_id)}: ${messageOf(error)}`);
    }
  }
  if (!terminal.json({ accounts, failed })) terminal.answer(`${formatCount(accounts.length, 'account')} added.`);
  return failed.length === 0 ? EXIT.done : EXIT.failed;
}

/** @throws AppError `bad-input` that names the line. */
function parseAccounts(text: string) {
  const [head = '', ...lines] = text.split(/\r?\n/).map((one) => one.trim());
  const names = head.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !IMPORT_COLUMNS.has(name));
  if (unknown !== undefined || !names.includes('account')) {
    const message = `The first line must name the columns: account and, if needed, ${[...IMPORT_COLUMNS].slice(1).join(', ')}, separated by commas.`;
    throw new AppError('bad-input', message);
  }
  return lines.flatMap((one, index) => {
    if (one === '') return [];
    const cells = one.split(',').map((cell) => cell.trim());
    if (cells.length !== names.length || one.includes('"')) {
      throw new AppError('bad-input', `Line ${index + 2} must have ${names.length} values without quotation marks.`);
    }
    const value = (name: string): string | undefined => cells[names.indexOf(name)] || undefined;
    const { account: id = '', ...rest } = {
      account: value('account'),
      name: value('name'),
      plan: value('plan'),
      group: value('group'),
      credits: value('credits'),
    };
    return [{ account_id: id, ...rest }];
  });
}

/** `farwharf admin account enable ID`. JSON: the account. */
export async function enableAccount(context: Context, id: string, flags: AdminFlags): Promise<void> {
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.enable', { account_id: id });
  answerAccount(context, account, `Account ${id} is enabled: its keys work, and its waiting jobs can start.`);
}

/** `farwharf admin account limits ID`: changes the limits that are named, and shows all limits. JSON: the account. */
export async function limitAccount(context: Context, id: string, flags: LimitFlags): Promise<void> {
  const limits = LIMITS.flatMap(([flag, field]) => {
    const text = flags[flag];
    return text === undefined ? [] : [[field, parseLimit(flag, text)] as const];
  });
  using admin = await findAdmin(context, flags);
  const account = await admin.call('accounts.limit', { account_id: id, limits: Object.fromEntries(limits) });
  answerAccount(context, account, describeLimits(account));
}

/** A number of credits as people write it. @throws AppError `bad-input`. */
export function parseCredits(text: string): number {
  if (/^[-+]?\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new AppError('bad-input', `"${text}" is not a number of credits. Enter a number such as 100 or 2.5.`);
}

function parseLimit(flag: (typeof LIMITS)[number][0], text: string): number | null {
  if (text === 'default') return null;
  const period = flag === 'runTime' ? periodMs(text) : undefined;
  if (period !== undefined && period > 0) return period / 1_000;
  const unit = IN_BYTES.has(flag) ? BYTES_OF_GB : 1;
  const pattern = unit === 1 ? /^\d{1,9}$/ : /^\d{1,6}(\.\d{1,6})?$/;
  if (flag !== 'runTime' && pattern.test(text)) return Math.round(Number(text) * unit);
  const spelling = flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const what = flag === 'runTime' ? 'a time such as 12h or 7d' : 'a number';
  throw new AppError('bad-input', `Invalid value for --${spelling}. Enter ${what}, or the word default.`);
}

function answerAccount({ terminal }: Context, account: AdminAccount, ...lines: readonly string[]): void {
  if (terminal.json(account)) return;
  for (const line of lines) terminal.answer(line);
}

function describe({ account_id: id, name, plan, group }: AdminAccount): string {
  return `${id}: ${printableLine(name)}, plan ${printableLine(plan)}${group === null ? '' : `, group ${group}`}`;
}

function creditsOf({ credits_available: credits }: AdminAccount): string {
  return `${formatCredits(credits)} ${credits === 1 ? 'credit' : 'credits'}`;
}

function describeLimits({ limits }: AdminAccount): string {
  const named = LIMITS.map(([flag, field, label]) => {
    const value = limits[field];
    if (value === null) return `${label} default`;
    if (flag === 'runTime') return `${label} ${formatDuration(value)}`;
    return `${label} ${IN_BYTES.has(flag) ? formatBytes(value) : value}`;
  });
  return `Limits: ${named.join(', ')}`;
}
