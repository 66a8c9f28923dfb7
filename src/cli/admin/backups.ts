import { resolve } from 'node:path';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { restoreBackup } from '../../service/folders/restoreBackup.ts';
import type { AdminFlags } from './adminFlags.ts';
import { askAdmin } from './adminService.ts';
import type { Context } from '../command/context.ts';
import { dataFolder } from '../command/dataFolder.ts';

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
export async function restore(context: Context, file: string, flags: AdminFlags): Promise<void> {
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
