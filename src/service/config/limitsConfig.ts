import * as z from 'zod';
import { type StoredAccount, LOCAL_ACCOUNT, type OwnLimits } from '../store/accounts/accountTable.ts';

const BYTES_OF_GB = 1e9;

/** The section `[limits]` of the configuration: the limits of accounts without their own. */
export const limitsSettings = z.strictObject({
  /** Jobs at once; others wait. Default: as many as fit. */
  running_jobs: z.int().min(1).optional(),
  queued_jobs: z.int().min(1).default(1_000),
  upload_gb: z.number().positive().default(20),
  /** The results of one job, before they are packed. */
  results_gb: z.number().positive().default(20),
  /** What all files of an account's jobs may occupy together, running or ended; default: no limit. */
  disk_gb: z.number().positive().optional(),
  /** The environments that are kept for later jobs; 0 keeps none. */
  environments_gb: z.number().min(0).default(20),
  /** Uploads at once. */
  uploads: z.int().min(1).default(4),
  /** Uploads of all accounts together at once. */
  all_uploads: z.int().min(1).default(16),
  /** Event streams and downloads of results at once. */
  streams: z.int().min(1).default(100),
  requests_per_minute: z.int().min(1).default(600),
  /** From one address. */
  wrong_keys_per_minute: z.int().min(1).default(30),
});
export type LimitsSettings = z.infer<typeof limitsSettings>;

/** The limits of an account; infinite if it has none. */
export type Limits = { readonly [Name in keyof OwnLimits]: number };

/**
 * The limits of an account: its own, otherwise those of the configuration. The account `local` is the operator, so the
 * configuration limits only the size of its uploads.
 */
export function limitsOf({ id, limits: own }: StoredAccount, settings: LimitsSettings): Limits {
  const isLocal = id === LOCAL_ACCOUNT;
  const choose = (ownLimit: number | null, general: number | undefined): number =>
    ownLimit ?? (isLocal ? undefined : general) ?? Number.POSITIVE_INFINITY;
  return {
    running_jobs: choose(own.running_jobs, settings.running_jobs),
    queued_jobs: choose(own.queued_jobs, settings.queued_jobs),
    upload_bytes: own.upload_bytes ?? Math.round(settings.upload_gb * BYTES_OF_GB),
    uploads: choose(own.uploads, settings.uploads),
    streams: choose(own.streams, settings.streams),
    disk_bytes: choose(own.disk_bytes, settings.disk_gb === undefined ? undefined : settings.disk_gb * BYTES_OF_GB),
    run_time: choose(own.run_time, undefined),
    requests_per_minute: choose(own.requests_per_minute, settings.requests_per_minute),
  };
}
