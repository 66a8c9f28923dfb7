import { resolve } from 'node:path';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { restoreBackup } from '../../service/folders/restoreBackup.ts';
import type { AdminFlags } from './adminFlags.ts';
import { askAdmin } from './adminService.ts';
import type { Context } from '../command/commandContext.ts';
import { dataFolder } from './dataFolder.ts';
import type { OperationOutput } from '../../service/admin/operations.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

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

type DiskUsage = OperationOutput<'disk.usage'>;

/** `farwharf admin backup FILE`. JSON: the file, its size, checksum and contents. */
export async function backUp(context: Context, file: string, flags: AdminFlags): Promise<void> {
  const { terminal } = context;
  const answer = await askAdmin(context, flags, 'backup.write', { file: resolve(context.cwd, file) });
  if (answer === undefined) return;
  const { bytes, sha256, jobs, results, unfinished_jobs: unfinished } = answer;
  terminal.answer(`${answer.file}: ${formatBytes(bytes)}, SHA-256 ${sha256}`);
  const has = `${formatCount(jobs, 'job')} with events, all accounts, keys and credits; the results of ${results}.`;
  terminal.note(`The backup contains ${has} It does not contain the configuration, the service log or certificates.`);
  if (unfinished > 0) {
    const many = formatCount(unfinished, 'job');
    terminal.note(
      `${many} had not ended. Their files are not in the backup; a restore marks them as lost, free of charge.`,
    );
  }
}

/** `farwharf admin restore FILE --data DIR`. JSON: the folder and its contents. */
export async function restoreService(context: Context, file: string, flags: AdminFlags): Promise<void> {
  const { terminal } = context;
  const data = dataFolder(flags.data, context);
  const { manifest, lostJobs } = await restoreBackup(resolve(context.cwd, file), data);
  const { created_at: createdAt, jobs, results } = manifest;
  if (terminal.json({ data, created_at: createdAt, jobs, results, lost_jobs: lostJobs })) return;
  terminal.answer(`${data}: ${formatCount(jobs, 'job')} and the results of ${results}, as of ${createdAt}.`);
  if (lostJobs > 0) {
    terminal.note(`${formatCount(lostJobs, 'job')} had not ended and are lost. Their credits are available again.`);
  }
  terminal.note(`The ledger balances. Start the service:  farwharf serve --data ${data}`);
}

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
