import { AppError } from '../../core/errors.ts';
import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { UsageRow } from '../../service/admin/usageOperations.ts';
import { type AdminFlags, findAdmin } from './adminService.ts';
import type { Context } from '../command/context.ts';
import { formatCsv } from '../terminal/csv.ts';
import { isDay } from '../terminal/day.ts';
import { EXIT } from '../command/exit.ts';
import { type Column, formatTable } from '../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ACCOUNT' },
  { title: 'NAME', minWidth: 8, dropOrder: 1 },
  { title: 'MACHINE', dropOrder: 4 },
  { title: 'JOBS', align: 'right', dropOrder: 2 },
  { title: 'MINUTES', align: 'right', dropOrder: 3 },
  { title: 'CREDITS', align: 'right' },
];

interface UsageFlags extends AdminFlags {
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly csv?: boolean;
}

/** `farwharf admin usage`: what accounts used, by machine class. JSON: `{ from, to, rows: [...] }`. */
export async function reportUsage(context: Context, _: string, flags: UsageFlags): Promise<number> {
  const { terminal } = context;
  if (flags.csv === true && terminal.isJson)
    throw new AppError('bad-input', '--csv and --json exclude each other. Use one of them.');
  const today = new Date().toISOString().slice(0, 10);
  const to = parseDay('--to', flags.to ?? today);
  const from = parseDay('--from', flags.from ?? `${to.slice(0, 7)}-01`);
  using admin = await findAdmin(context, flags);
  const report = await admin.call('usage.report', {
    from,
    to,
    ...(flags.account !== undefined && { account_id: flags.account }),
  });
  terminal.json(report);
  if (flags.csv === true) for (const line of asCsv(report.rows)) terminal.programOutput('stdout', line);
  else if (!terminal.isJson) tellTable(context, from, to, report.rows);
  return EXIT.done;
}

function asCsv(rows: readonly UsageRow[]): readonly string[] {
  const header = ['account_id', 'name', 'machine_class', 'jobs', 'machine_minutes', 'credits'];
  return formatCsv(
    header,
    rows.map((row) => [row.account_id, row.name, row.machine_class, row.jobs, row.machine_minutes, row.credits]),
  );
}

function tellTable({ terminal }: Context, from: string, to: string, rows: readonly UsageRow[]): void {
  const period = from === to ? `on ${from}` : `from ${from} to ${to}`;
  if (rows.length === 0) {
    terminal.answer(`No jobs ended ${period} (UTC).`);
    return;
  }
  terminal.note(`Jobs that ended ${period} (UTC)`);
  const sum = (pick: (row: UsageRow) => number): number => rows.reduce((total, row) => total + pick(row), 0);
  const total = [
    'all',
    '',
    '',
    String(sum(({ jobs }) => jobs)),
    showMinutes(sum((row) => row.machine_minutes)),
    formatCredits(sum(({ credits }) => credits)),
  ];
  const lines = rows.map((row) => [
    row.account_id,
    printableLine(row.name),
    printableLine(row.machine_class),
    String(row.jobs),
    showMinutes(row.machine_minutes),
    formatCredits(row.credits),
  ]);
  const table = [...lines, ...(lines.length > 1 ? [total] : [])];
  for (const line of formatTable(COLUMNS, table, terminal.answerColumns)) terminal.answer(line);
}

function showMinutes(minutes: number): string {
  return minutes.toFixed(1);
}

function parseDay(option: string, text: string): string {
  if (isDay(text)) return text;
  throw new AppError('bad-input', `Invalid value "${text}" for ${option}. Enter a day such as 2027-01-31.`);
}
