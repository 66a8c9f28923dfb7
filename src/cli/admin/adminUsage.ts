import { AppError } from '../../core/errors.ts';
import { formatCredits } from '../../core/text/format.ts';
import type { OperationOutput } from '../../service/admin/operations.ts';
import { USAGE_GROUPS, type UsageGroup, type UsageRow } from '../../service/admin/usageOperations.ts';
import type { UsageFlags } from './adminFlags.ts';
import { findAdmin } from './adminService.ts';
import type { Context } from '../command/commandContext.ts';
import { isDay } from './days.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

/** The columns, and their fields in JSON and CSV, that say which jobs a row is about. */
const GROUP_COLUMNS: Readonly<Record<UsageGroup, readonly RecordColumn<UsageRow>[]>> = {
  account: [
    { title: 'ACCOUNT', cell: (row) => row.account_id ?? '' },
    { title: 'NAME', cell: ({ name }) => name ?? '', minWidth: 8, dropOrder: 1 },
  ],
  group: [{ title: 'GROUP', cell: ({ group }) => group ?? '' }],
  project: [{ title: 'PROJECT', cell: ({ project }) => project ?? '', minWidth: 8 }],
  class: [{ title: 'MACHINE', cell: (row) => row.machine_class ?? '', dropOrder: 4 }],
};
const GROUP_FIELDS = {
  account: ['account_id', 'name'],
  group: ['group'],
  project: ['project'],
  class: ['machine_class'],
} as const;
const SUM_COLUMNS: readonly RecordColumn<UsageRow>[] = [
  { title: 'JOBS', cell: ({ jobs }) => String(jobs), align: 'right', dropOrder: 2 },
  { title: 'MINUTES', cell: (row) => row.machine_minutes.toFixed(1), align: 'right', dropOrder: 3 },
  { title: 'CREDITS', cell: ({ credits }) => formatCredits(credits), align: 'right' },
];
const SUM_FIELDS = ['jobs', 'machine_minutes', 'credits'] as const;

/** The label of the last row, which has the totals. */
const ALL = {
  account: { account_id: 'all' },
  group: { group: 'all' },
  project: { project: 'all' },
  class: { machine_class: 'all' },
} as const;

// Spreadsheets run a cell with one of these prefixes as a formula (OWASP, "CSV injection").
const FORMULA = /^[=+\-@\t\r]/;

/** `farwharf admin usage`: what the jobs of accounts, groups, projects or machine classes used. JSON: `{ from, to, rows: [...] }`. */
export async function reportUsage(context: Context, _: string, flags: UsageFlags): Promise<void> {
  const { terminal } = context;
  if (flags.csv && terminal.isJson)
    throw new AppError('bad-input', '--csv and --json exclude each other. Use one of them.');
  const today = new Date().toISOString().slice(0, 10);
  const to = parseDay('--to', flags.to ?? today);
  const from = parseDay('--from', flags.from ?? `${to.slice(0, 7)}-01`);
  const by = parseGroups(flags.by);
  using admin = await findAdmin(context, flags);
  const report = await admin.call('usage.report', { from, to, account_id: flags.account, by });
  terminal.json(report);
  if (flags.csv) for (const line of asCsv(report.rows, by)) terminal.programOutput('stdout', line);
  else if (!terminal.isJson) showTable(context, report, by);
}

function asCsv(rows: readonly UsageRow[], by: readonly UsageGroup[]): readonly string[] {
  const fields = [...by.flatMap((group) => GROUP_FIELDS[group]), ...SUM_FIELDS];
  return formatCsv(
    fields,
    rows.map((row) => fields.map((name) => row[name] ?? '')),
  );
}

function showTable(
  { terminal }: Context,
  { from, to, rows }: OperationOutput<'usage.report'>,
  by: readonly UsageGroup[],
): void {
  const period = from === to ? `on ${from}` : `from ${from} to ${to}`;
  if (rows.length === 0) {
    terminal.answer(`No jobs ended ${period} (UTC).`);
    return;
  }
  terminal.note(`Jobs that ended ${period} (UTC)`);
  const sum = (name: 'jobs' | 'machine_minutes' | 'credits'): number =>
    rows.reduce((total, row) => total + row[name], 0);
  const total = { jobs: sum('jobs'), machine_minutes: sum('machine_minutes'), credits: sum('credits') };
  const columns = [...by.flatMap((group) => GROUP_COLUMNS[group]), ...SUM_COLUMNS];
  answerTable(terminal, columns, rows.length > 1 ? [...rows, { ...ALL[by[0] ?? 'account'], ...total }] : rows);
}

/** `account,project`: each once, in the order in which they are given. @throws AppError `bad-input`. */
function parseGroups(text: string | undefined): UsageGroup[] {
  const words = (text ?? 'account,class').split(',');
  const groups = words.flatMap((word) => USAGE_GROUPS.find((group) => group === word.trim()) ?? []);
  if (groups.length === words.length && new Set(groups).size === groups.length) return groups;
  const example = 'Enter account, group, project, class, or several of them, such as project,account.';
  throw new AppError('bad-input', `Invalid value "${text}" for --by. ${example}`);
}

function parseDay(option: string, text: string): string {
  if (isDay(text)) return text;
  throw new AppError('bad-input', `Invalid value "${text}" for ${option}. Enter a day such as 2027-01-31.`);
}

/**
 * Rows as comma-separated values (RFC 4180), each line with its CRLF. Numbers are unchanged. Text that looks like a formula gets a
 * leading apostrophe.
 */
export function formatCsv(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] {
  return [header, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`);
}

function formatCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
