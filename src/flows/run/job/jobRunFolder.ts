import { join } from 'node:path';

/** The folder with the runs among the results of jobs. */
const RUNS_FOLDER = 'farwharf-flow';

/**
 * The folder of the run of a job, relative to its results. Each job has its own, because those of several jobs, of one flow or of
 * several, come home into the same folder, and are sent with the next job.
 *
 * @param file the flow file, relative to the workspace. @param run a name that no other job has.
 */
export function jobRunFolder(file: string, run: string): string {
  return join(RUNS_FOLDER, file, run);
}

/** Whether the path of a result is that of the record of a run. */
export function isRunRecord(path: string): boolean {
  return /(?:^|\/)farwharf-flow\/(?:.+\/)?run\.json$/.test(path);
}
