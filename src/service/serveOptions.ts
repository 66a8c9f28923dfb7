import type { Executors } from './executors.ts';
import type { ServiceConfig } from './serviceConfig.ts';

/** What a service is started with. */
export interface ServeOptions {
  /** Address to listen on; `127.0.0.1` unless a person asked for another. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Folder of the store and of the jobs' files; made where missing, for this user only. */
  readonly data: string;
  /** What runs the jobs, and what they can ask for. */
  readonly config: ServiceConfig;
  /** The executors that the configuration can name; default: those of Farwharf. */
  readonly executors?: Executors;
  /** Path of the built `jobRunner.mjs`, or of `jobRunner.ts` when running from the sources. */
  readonly runner: string;
  /** Version of the program, told by `/healthz`, `/openapi.json` and the state file. */
  readonly version: string;
  /** The key of the account `local`; made (256 random bits) where missing. Other accounts have theirs in the store. */
  readonly apiKey?: string;
  /** Credits that the account `local` begins with, 1000 unless given; one that exists keeps what it has. */
  readonly credits?: number;
  /** Practice credits: once a day (UTC) the balance is topped up to `credits`. */
  readonly isToppedUpDaily?: boolean;
  /** Ends the service after this long without unfinished jobs and requests. */
  readonly idleExitMs?: number;
  /** Where to tell url, key and pid, readable by this user only, while the service runs. */
  readonly stateFile?: string;
  /** Time between SIGTERM and SIGKILL for a job that must end; 5000 unless given. */
  readonly killGraceMs?: number;
  /** How long requests that are under way may go on when the service is told to end; 30 s unless given. */
  readonly drainMs?: number;
}
