import { existsSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import type { Executor } from '../executor/executor.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { isSealed } from '../jobFiles/reportSeal.ts';
import { changedByJob } from '../jobFiles/jobFileReading.ts';
import { type ExitMarker, readExit } from '../jobFiles/markers.ts';

/** How a job ended according to its runner; `forged` if something else wrote the report. */
export type RunnerReport =
  | { readonly type: 'none' }
  | { readonly type: 'report'; readonly exit: ExitMarker }
  | { readonly type: 'forged'; readonly reason: string };

export async function readReport(
  jobId: string,
  folder: Pick<JobFolder, 'exit'>,
  executor: Pick<Executor, 'reportSecret'>,
): Promise<RunnerReport> {
  if (!existsSync(folder.exit)) return { type: 'none' };
  try {
    const exit = await readExit(folder.exit);
    if (exit === undefined) return { type: 'none' };
    const secret = executor.reportSecret(jobId);
    if (secret !== undefined && !isSealed(exit, secret)) throw changedByJob(folder.exit);
    return { type: 'report', exit };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'corrupt') throw error;
    return { type: 'forged', reason: error.message };
  }
}
