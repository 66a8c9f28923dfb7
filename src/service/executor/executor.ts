import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { FinalState } from '../../remote/protocol/states.ts';

/** A job as an executor sees it. */
export interface RunnableJob {
  readonly id: string;
  readonly machineClass: string;
  /** Seconds. */
  readonly maxRuntime: number;
}

/** What an executor says of the end of a job. */
export interface RunnerEnding {
  readonly state: FinalState;
  readonly reason: string;
  /** Whether the time that the script ran is charged: not where the job was taken down through no doing of its own. */
  readonly isCharged: boolean;
  /** Whether this is why the job ended, whatever its runner reported. Otherwise it explains why no report came. */
  readonly isCause: boolean;
}

/**
 * What an executor knows of a job's runner: it waits for its turn, none is on its way (launch again), it runs, or it is gone. A runner that ended as it should
 * has reported in the job's folder before it is gone; `ending` is what the executor can tell where it has not.
 */
export type RunnerStatus =
  | { readonly state: 'waiting'; readonly reason?: string }
  | { readonly state: 'absent' }
  | { readonly state: 'running' }
  | { readonly state: 'gone'; readonly ending?: RunnerEnding };

/**
 * Where runners run. A runner takes everything from the job's folder and reports there, so an executor only has to start
 * one, know whether it is still there, and clean up after one that broke.
 */
export interface Executor {
  /** Jobs that may be handed over at once. */
  readonly capacity: number;
  /** Whether runners write on this machine, so that its file system tells of what they write. */
  readonly isLocal: boolean;
  /** Why no job can be started now, whatever it is; undefined where jobs can. */
  refusal(): string | undefined;
  /**
   * Sees to it that a runner takes the folder, unless one has. May be asked again for a job that was handed over before, by
   * an earlier service too: it is started once.
   *
   * @throws AppError `unreachable` when trying again later may help, another one when no runner can be started.
   */
  launch(job: RunnableJob, folder: JobFolder, signal: AbortSignal): Promise<void>;
  status(jobId: string, folder: JobFolder): Promise<RunnerStatus>;
  /** What the job's runner seals its report with. Undefined where it cannot be told in secret: then any report is believed. */
  reportSecret(jobId: string): string | undefined;
  /** Hastens the end of a job whose folder asks for it. */
  cancel(jobId: string): Promise<void>;
  /** Ends what a broken runner left behind. */
  cleanUp(jobId: string, folder: JobFolder): Promise<void>;
  /** Nobody will ask about the job any more. */
  forget(jobId: string): void;
  /** Ends what the executor itself does in the background; runners go on. */
  stop(): Promise<void>;
}
