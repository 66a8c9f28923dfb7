import type { Logger } from '../core/log.ts';

export interface ServeOptions {
  /** Address to listen on; `127.0.0.1` unless a person asked for another. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Folder of the store and of the jobs' files; made where missing, for this user only. */
  readonly data: string;
  readonly executor: 'process';
  /** Path of the built `jobRunner.mjs`, or of `jobRunner.ts` when running from the sources. */
  readonly runner: string;
  /** Version of the program, told by `/healthz`, `/openapi.json` and the state file. */
  readonly version: string;
  /** The one account's key; made (256 random bits) where missing. */
  readonly apiKey?: string;
  /** Credits of a new account, 1000 unless given; an account that exists keeps what it has. */
  readonly credits?: number;
  /** Practice credits: once a day (UTC) the balance is topped up to `credits`. */
  readonly isToppedUpDaily?: boolean;
  /** Jobs that run at once; the number of cores unless given. */
  readonly concurrency?: number;
  /** Ends the service after this long without unfinished jobs and requests. */
  readonly idleExitMs?: number;
  /** Where to tell url, key and pid, readable by this user only, while the service runs. */
  readonly stateFile?: string;
  /** Time between SIGTERM and SIGKILL for a job that must end; 5000 unless given. */
  readonly killGraceMs?: number;
  /** Largest accepted archive. */
  readonly maxUploadBytes?: number;
}

export interface RunningService {
  readonly url: string;
  readonly key: string;
  /** Settles once the service has ended: by its signal or because it was idle. Jobs that run go on. */
  readonly closed: Promise<void>;
}

/**
 * Starts the job service in this process.
 *
 * @throws AppError `conflict` when another service uses the data folder or the port, `corrupt` when the ledger does not balance.
 */
export function serve(_options: ServeOptions, _deps: { log: Logger; signal: AbortSignal }): Promise<RunningService> {
  throw new Error('Not written yet.');
}
