import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import type { OperationOutput } from '../../service/admin/operations.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import { isDay } from './days.ts';
import type { AuditFlags } from './adminFlags.ts';
import { askAdmin, findAdmin } from './adminService.ts';

type Entry = OperationOutput<'audit.list'>['entries'][number];

const COLUMNS: readonly RecordColumn<Entry>[] = [
  { title: 'NO', cell: ({ number }) => String(number), align: 'right' },
  { title: 'WHEN (UTC)', cell: ({ at }) => at.slice(0, 19).replace('T', ' ') },
  { title: 'WHO', cell: ({ operator }) => operator.sudo_user ?? operator.user },
  { title: 'WHAT', cell: ({ verb }) => verb },
  { title: 'ACCOUNT', cell: ({ account_id: id }) => id ?? '', dropOrder: 2 },
  { title: 'KEY', cell: ({ key_id: id }) => id ?? '', dropOrder: 1 },
  { title: 'JOB', cell: ({ job_id: id }) => id ?? '', dropOrder: 3 },
  { title: 'OUTCOME', cell: ({ outcome }) => outcome, minWidth: 8 },
];

/** `farwharf admin audit`: what operators have done, newest first. JSON: `{ entries: [...] }`; with `--verify` the result of the check. */
export async function showAudit(context: Context, _: string, flags: AuditFlags): Promise<number> {
  const { account, key, job, verb, user, from, limit } = flags;
  if (from !== undefined && !isDay(from)) {
    throw new AppError('bad-input', `"${from}" is not a day. Enter one such as 2027-01-31.`);
  }
  if (flags.verify || flags.expect !== undefined) return verify(context, flags);
  const answer = await askAdmin(context, flags, 'audit.list', {
    ...(account !== undefined && { account_id: account }),
    ...(key !== undefined && { key_id: key }),
    ...(job !== undefined && { job_id: job }),
    ...(verb !== undefined && { verb }),
    ...(user !== undefined && { user }),
    ...(from !== undefined && { from: `${from}T00:00:00Z` }),
    limit,
  });
  const none = 'The audit trail has no such entries.';
  if (answer !== undefined) answerTable(context.terminal, COLUMNS, answer.entries, { none });
  return EXIT.done;
}

async function verify(context: Context, flags: AuditFlags): Promise<number> {
  const { terminal } = context;
  const { expect: expected } = flags;
  using admin = await findAdmin(context, flags);
  const result = await admin.call('audit.verify', { expected });
  const { entries, hash, broken, has_expected: hasExpected } = result;
  const exit = broken === null && hasExpected ? EXIT.done : EXIT.failed;
  if (terminal.json(result)) return exit;
  if (broken !== null) {
    terminal.answer(
      `Entry ${broken.number} ${broken.why}. It and what follows cannot be trusted; the ${formatCount(entries, 'entry', 'entries')} before it are intact.`,
    );
  } else {
    terminal.answer(`${formatCount(entries, 'entry', 'entries')}, each intact. Last hash: ${hash ?? 'none'}`);
  }
  if (!hasExpected)
    terminal.answer(
      'No entry has the expected hash: entries were removed from the end, or the whole trail was rewritten.',
    );
  return exit;
}
