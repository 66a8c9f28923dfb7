import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import { jobFolder } from '../jobFiles/jobFolder.ts';

/**
 * Moves the files of jobs and uploads out of the data folder, where a restore or the executor `process` put them. It can be
 * interrupted and repeated: each job's files are complete in one of the two places.
 *
 * @throws AppError `conflict` while jobs run there.
 */
export async function moveFiles(
  data: string,
  files: string,
  { unfinished, log }: { readonly unfinished: readonly { readonly id: string }[]; readonly log: Logger },
): Promise<void> {
  const from = join(data, 'jobs');
  const running = unfinished.filter(({ id }) => existsSync(jobFolder(join(from, id)).claim));
  if (running.length > 0) {
    const message = `${running.length} jobs run on this machine, with their files in ${from}. Start the service with executor = "process" until they have ended.`;
    throw new AppError('conflict', message);
  }
  for (const kind of ['jobs', 'uploads']) await moveAll(join(data, kind), join(files, kind), log);
}

async function moveAll(from: string, to: string, log: Logger): Promise<void> {
  if (!existsSync(from)) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  const names = await readdir(from);
  if (names.length > 0) log.info('moving files of jobs', { from, to, count: names.length });
  for (const name of names) {
    if (existsSync(join(to, name))) await removeTree(join(from, name));
    else await move(join(from, name), join(to, name));
  }
  await syncFolder(to);
  await rmdir(from);
}

async function move(from: string, to: string): Promise<void> {
  try {
    return await rename(from, to);
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
  }
  // An interrupted copy has this name, which is not a job's, so the next start removes it.
  const partial = `${to}.moving`;
  await removeTree(partial);
  await cp(from, partial, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const { results } = jobFolder(partial);
  if (existsSync(results)) await syncFile(results);
  await rename(partial, to);
  await removeTree(from);
}
