import { formatBytes } from '../../core/text/format.ts';
import type { OperationOutput } from '../../service/admin/operations.ts';
import type { AdminFlags } from './adminFlags.ts';
import { askAdmin } from './adminService.ts';
import type { Context } from '../command/context.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

type DiskUsage = OperationOutput<'disk.usage'>;

const ACCOUNT_COLUMNS: readonly RecordColumn<DiskUsage['accounts'][number]>[] = [
  { title: 'ACCOUNT', cell: (account) => account.account_id },
  { title: 'JOBS', cell: ({ jobs }) => String(jobs), align: 'right' },
  { title: 'RESULTS', cell: (account) => formatBytes(account.results_bytes), align: 'right' },
  { title: 'WORKSPACES', cell: (account) => formatBytes(account.workspace_bytes), align: 'right' },
  { title: 'OLDEST', cell: (account) => account.oldest_ended_at?.slice(0, 10) ?? '–', dropOrder: 1 },
];
const JOB_COLUMNS: readonly RecordColumn<DiskUsage['jobs'][number]>[] = [
  { title: 'JOB', cell: (job) => job.job_id },
  { title: 'ACCOUNT', cell: (job) => job.account_id, dropOrder: 2 },
  { title: 'STATE', cell: ({ state }) => state, dropOrder: 1 },
  { title: 'SIZE', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
];

/**
 * `farwharf admin disk`: the free space, what the files of each account's jobs use, and the jobs that use the most. JSON:
 * `{ free_bytes, store_bytes, accounts: [...], jobs: [...] }`.
 */
export async function showDisk(context: Context, _: string, flags: AdminFlags): Promise<void> {
  const { terminal } = context;
  const answer = await askAdmin(context, flags, 'disk.usage', {});
  if (answer === undefined) return;
  const { accounts, jobs, free_bytes: free, store_bytes: store } = answer;
  answerTable(terminal, ACCOUNT_COLUMNS, accounts, { none: 'No job has files.' });
  if (jobs.length > 0) {
    terminal.answer('');
    answerTable(terminal, JOB_COLUMNS, jobs);
  }
  terminal.note(`The store uses ${formatBytes(store)}; ${formatBytes(free)} are free.`);
}
