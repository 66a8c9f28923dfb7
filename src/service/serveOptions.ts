import type { Executors } from './executors.ts';
import type { ServiceConfig } from './serviceConfig.ts';

/** What a service is started with. */
export interface ServeOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** A Unix socket to listen on in place of `host` and `port`. Its folder is created, for this user only. */
  readonly socket?: string;
  /** Folder for the store and the files of jobs; created if missing, for this user only. */
  readonly data: string;
  readonly config: ServiceConfig;
  /** The executors that the configuration can name; default: those of Farwharf. */
  readonly executors?: Executors;
  /** Path of the built `jobRunner.mjs`, or of `jobRunner.ts` when running from the sources. */
  readonly runner: string;
  /** Version of the program, as in `/healthz`, `/openapi.json` and the state file. */
  readonly version: string;
  /** The key of the account `local`; generated (256 random bits) if missing, and as random with a state file. Keys of other accounts are in the store. */
  readonly apiKey?: string;
  /** Initial credits of the account `local`; default: 1000. An existing account keeps what it has. */
  readonly credits?: number;
  /** Whether stricter retention settings than at the last start may delete more than a tenth of what is stored. */
  readonly isRetentionConfirmed?: boolean;
  /** Stops the service after this time without unfinished jobs and requests. */
  readonly idleExitMs?: number;
  /** A file with URL, key and process ID while the service runs, readable by this user only. */
  readonly stateFile?: string;
  /** Whether the service belongs to the person who uses it, so that jobs may read its data while it has no other account. */
  readonly isPersonal?: boolean;
  /** Time between SIGTERM and SIGKILL for a job; default: 5000. */
  readonly killGraceMs?: number;
  /** Time for open requests when the service stops; default: 30 s. */
  readonly drainMs?: number;
}
