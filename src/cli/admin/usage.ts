import { AppError } from '../../core/errors.ts';
import { formatCredits } from '../../core/text/format.ts';
import type { UsageRow } from '../../service/admin/operations/usageOperations.ts';
import type { UsageFlags } from './adminFlags.ts';
import { findAdmin } from './adminService.ts';
import type { Context } from '../command/context.ts';
import { formatCsv } from '../terminal/csv.ts';
import { isDay } from '../terminal/day.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

const COLUMNS: readonly RecordColumn<UsageRow>[] = [
  { title: 'ACCOUNT', cell: (row) => row.account_id },
  { title: 'NAME', cell: ({ name }) => name, minWidth: 8, dropOrder: 1 },
  { title: 'MACHINE', cell: (row) => row.machine_class, dropOrder: 4 },
  { title: 'JOBS', cell: ({ jobs }) => String(jobs), align: 'right', dropOrder: 2 },
  { title: 'MINUTES', cell: (row) => row.machine_minutes.toFixed(1), align: 'right', dropOrder: 3 },
  { title: 'CREDITS', cell: ({ credits }) => formatCredits(credits), align: 'right' },
];
const CSV_COLUMNS = ['account_id', 'name', 'machine_class', 'jobs', 'machine_minutes', 'credits'] as const;

/** `farwharf admin usage`: the usage of accounts, by machine class. JSON: `{ from, to, rows: [...] }`. */
export async function reportUsage(context: Context, _: string, flags: UsageFlags): Promise<void> {
  const { terminal } = context;
  if (flags.csv && terminal.isJson)
    throw new AppError('bad-input', '--csv and --json exclude each other. Use one of them.');
  const today = new Date().toISOString().slice(0, 10);
  const to = parseDay('--to', flags.to ?? today);
  const from = parseDay('--from', flags.from ?? `${to.slice(0, 7)}-01`);
  using admin = await findAdmin(context, flags);
  const report = await admin.call('usage.report', { from, to, account_id: flags.account });
  terminal.json(report);
  if (flags.csv) for (const line of asCsv(report.rows)) terminal.programOutput('stdout', line);
  else if (!terminal.isJson) showTable(context, from, to, report.rows);
}

function asCsv(rows: readonly UsageRow[]): readonly string[] {
  return formatCsv(
    CSV_COLUMNS,
    rows.map((row) => CSV_COLUMNS.map((name) => row[name])),
  );
}

function showTable({ terminal }: Context, from: string, to: string, rows: readonly UsageRow[]): void {
  const period = from === to ? `on ${from}` : `from ${from} to ${to}`;
  if (rows.length === 0) {
    terminal.answer(`No jobs ended ${period} (UTC).`);
    return;
  }
  terminal.note(`Jobs that ended ${period} (UTC)`);
  const sum = (name: 'jobs' | 'machine_minutes' | 'credits'): number =>
    rows.reduce((total, row) => total + row[name], 0);
  const own = { account_id: 'all', name: '', machine_class: '' };
  const total = { ...own, jobs: sum('jobs'), machine_minutes: sum('machine_minutes'), credits: sum('credits') };
  answerTable(terminal, COLUMNS, rows.length > 1 ? [...rows, total] : rows);
}

function parseDay(option: string, text: string): string {
  if (isDay(text)) return text;
  throw new AppError('bad-input', `Invalid value "${text}" for ${option}. Enter a day such as 2027-01-31.`);
}
