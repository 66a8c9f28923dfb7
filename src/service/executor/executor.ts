import type { Duplex } from 'node:stream';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { SecretValues } from '../jobFiles/runnerInput.ts';
import type { ClusterOptions } from '../../remote/protocol/termValues.ts';
import type { FinalState } from '../../remote/protocol/states.ts';
import type { PackageTool } from '../../workspace/environments/packageList.ts';
import type { ScriptKindName } from '../../workspace/scripts/scriptKinds.ts';
import type { Emitter } from '../../core/processes/lifetime.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';

/** A job with its account, which decides as which user some executors run it. */
export type OwnedJob = Pick<StoredJob, 'id' | 'account'>;
export type RunnableJob = Pick<StoredJob, 'id' | 'account' | 'project' | 'script' | 'machineClass' | 'maxRuntime'>;

/** The end of a job according to its executor. */
export interface RunnerEnding {
  readonly state: FinalState;
  readonly reason: string;
  /** Whether the run time is charged; false if the job's end was caused by something other than the job. */
  readonly isCharged: boolean;
  /** Whether this is why the job ended, whatever its runner reported. Otherwise it explains the missing report. */
  readonly isCause: boolean;
}

/**
 * What an executor knows about a job's runner: it waits to start, does not exist (launch it again), runs, was stopped and put back into the
 * queue by the cluster (its files are to be made anew, then it can be launched again), or is gone. A runner that
 * ended normally has reported in the job's folder before it is gone; `ending` is what the executor knows otherwise.
 */
export type RunnerStatus =
  | { readonly state: 'waiting'; readonly reason?: string }
  | { readonly state: 'absent' }
  | { readonly state: 'running' }
  | { readonly state: 'returned' }
  | { readonly state: 'gone'; readonly ending?: RunnerEnding };

/** A cluster that an executor hands jobs to, which can be away while the service itself works. */
export interface ClusterContact {
  /** When it last responded, by `performance.now()` in milliseconds; undefined before its first response. */
  readonly answeredAt: number | undefined;
  /** Since when it has not responded; undefined while it does. */
  readonly failingSince: Date | undefined;
  /** Checks whether it responds, even without jobs. @throws AppError if it does not within a bounded time. */
  look(): Promise<void>;
}

export type QueuedJob = Pick<StoredJob, 'id' | 'account' | 'machineClass' | 'maxRuntime'>;

/** What becomes of a job of the queue: `first` is the first that waits, for which the machine is kept. */
export type QueueVerdict = 'starts' | 'first' | 'waits';

/** Which jobs of a queue start now, and why the others wait. */
export interface PlacedJobs {
  readonly starts: readonly QueuedJob[];
  /** A sentence by job, where there is more to say than that it waits. */
  readonly waits: ReadonlyMap<string, string | undefined>;
  /** The job that the machine is kept for. */
  readonly first: QueuedJob | undefined;
}

/** Reserves what jobs need. A cluster does that itself. */
export interface JobPlacement {
  /**
   * Chooses the jobs that start now, and reserves what they need until `Executor.forget`.
   *
   * @param order yields the queued jobs in their order, given what becomes of each.
   */
  place(order: () => Generator<QueuedJob, void, QueueVerdict>): PlacedJobs;
  /** Reserves what a job of an earlier service has. */
  adopt(job: StoredJob, folder: JobFolder): void;
  /** A sentence about why the machine can never run jobs of a class; undefined if it can. */
  refusalOf(machineClass: string): string | undefined;
  /** That jobs may start which waited for something that no job had. */
  readonly onDidChange: Emitter<void>['event'];
}

/**
 * Runs runners. A runner gets everything from the job's folder and reports there, so an executor only has to start it, know
 * whether it still runs, and clean up after it failed.
 */
export interface Executor {
  /** How many jobs it can have at once. */
  readonly capacity: number;
  /** Without it, jobs start in their order as long as there is capacity. */
  readonly placement?: JobPlacement;
  /** Whether runners write on this machine, whose file system then reports changes. */
  readonly isLocal: boolean;
  /** Whether no job can change what jobs of another account build for later ones. */
  keepsEnvironments(): boolean;
  /** The kinds of scripts whose programs are there where jobs run; undefined if that is not known. */
  scriptKinds?(): readonly ScriptKindName[] | undefined;
  /** The tools that install packages where jobs run. On a cluster, those that its nodes may have. */
  packageTools?(): readonly PackageTool[];
  /** Undefined if it starts jobs without asking anyone. */
  readonly cluster?: ClusterContact;
  /** Why no job can be started now; undefined if jobs can. */
  refusal(): string | undefined;
  /** Why a job of an account cannot have what it asks of a cluster; undefined if it can. Without it, no job can ask for anything. */
  refusalOf?(options: ClusterOptions, job: Pick<RunnableJob, 'account' | 'machineClass'>): string | undefined;
  /** Why the programs of a job cannot wait for debuggers; undefined if they can. */
  refusalOfDebug?(options: ClusterOptions | undefined, machineClass: string): string | undefined;
  /**
   * How many more seconds a running job can have, however long it is frozen. Executors without it set no limit of their own.
   *
   * @throws AppError `unreachable` if that is not known now.
   */
  secondsLeft?(job: OwnedJob): Promise<number>;
  /**
   * Starts a runner that claims the folder, unless one has. A repeated call for a job, even by another service, starts it once.
   *
   * @param secrets variables of the job. Nobody but the runner may see them: they are in no argument and no variable of a program.
   * @throws AppError `unreachable` if a retry may help, another one if no runner can be started.
   */
  launch(job: RunnableJob, folder: JobFolder, signal: AbortSignal, secrets: SecretValues): Promise<void>;
  status(job: OwnedJob, folder: JobFolder): Promise<RunnerStatus>;
  /** By which ID its own tools know a job, as of the last status; undefined if they do not. */
  externalId(job: OwnedJob): string | undefined;
  /**
   * The secret with which the job's runner seals its report; undefined if it cannot be passed secretly, in which case every report is
   * accepted.
   */
  reportSecret(jobId: string): string | undefined;
  /**
   * Opens a connection into a running job, for one client. Executors without it do not let clients into jobs.
   *
   * @throws AppError `conflict` if the job lets nobody in now, `unreachable` if a retry may help, another one if nobody can connect.
   */
  connect?(job: OwnedJob, folder: JobFolder, signal: AbortSignal): Promise<Duplex>;
  /** Speeds up the end of a job whose folder has the cancel file. */
  cancel(job: OwnedJob): Promise<void>;
  /**
   * Ends all programs of a job without a grace period, whatever its runner does. The runner then reports their end.
   *
   * @returns whether any was running.
   */
  endNow(job: OwnedJob, folder: JobFolder): Promise<boolean>;
  /** Takes a returned job out of the queue, so that it can be launched again. Its folder is kept, except what the first run left. */
  takeBack?(job: OwnedJob, folder: JobFolder): Promise<void>;
  /** Stops a runner that failed, and what it left running. */
  cleanUp(job: OwnedJob, folder: JobFolder): Promise<void>;
  /** Called after the last call about a job that has no runner any more; not if the service stops while it has one. */
  forget(job: OwnedJob): void;
  /** Stops the executor's own background work; runners continue. */
  stop(): Promise<void>;
}
