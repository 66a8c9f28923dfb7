import type { JobFolder } from './runner/jobFolder.ts';

/**
 * Where runners run. A runner takes everything from the job's folder and reports there, so an executor only has to start
 * one, know whether it is still there, and clean up after one that broke.
 */
export interface Executor {
  /**
   * Starts a runner for the folder, which takes the job unless another process has it already.
   *
   * @returns once the runner has the job or has ended.
   * @throws AppError when no runner could be started.
   */
  launch(folder: JobFolder): Promise<void>;
  /** Whether the runner that claimed the folder is still there. */
  isRunning(folder: JobFolder): Promise<boolean>;
  /** Ends what a broken runner left behind. */
  cleanUp(folder: JobFolder, jobId: string): Promise<void>;
}
