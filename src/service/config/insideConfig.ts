import * as z from 'zod';

const BYTES_OF_MB = 1e6;

/** The section `[inside]` of the configuration: what clients may do inside running jobs. */
export const insideSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** IDs of accounts that cannot connect to their jobs. */
  disabled_accounts: z.array(z.string()).default([]),
  /** Names of machine classes whose jobs nobody can connect to. */
  disabled_classes: z.array(z.string()).default([]),
  /** At once. */
  connections_per_job: z.int().min(1).default(8),
  connections_per_account: z.int().min(1).default(16),
  /** Of one account, also those that continue after a cut. Each leaves two entries in the audit trail. */
  connections_per_minute: z.int().min(1).default(30),
  /** Of one connection, in each direction; default: no limit. */
  mb_per_second: z.number().positive().optional(),
  /** How long a job may be frozen for a debugger in all; 0: no job waits for one. */
  freeze_minutes: z.number().min(0).max(1_440).default(60),
});
export type InsideSettings = z.infer<typeof insideSettings>;

/** Bytes per second of one connection in each direction; infinite without a limit. */
export function bytesPerSecond({ mb_per_second: most }: Pick<InsideSettings, 'mb_per_second'>): number {
  return most === undefined ? Number.POSITIVE_INFINITY : most * BYTES_OF_MB;
}

/** Why an account cannot connect to jobs of a class, as its clients see it; undefined if it can. */
export function insideRefusal(
  { enabled, disabled_accounts: accounts, disabled_classes: classes }: InsideSettings,
  { account, machineClass }: { readonly account: string; readonly machineClass: string },
): string | undefined {
  if (!enabled) return 'The operator of this service lets nobody connect to running jobs.';
  if (accounts.includes(account)) return 'The operator of this service lets this account not connect to running jobs.';
  if (!classes.includes(machineClass)) return undefined;
  return `The operator of this service lets nobody connect to jobs of the machine class ${machineClass}.`;
}

/** Seconds that a job of an account may be frozen in all while it waits for a debugger; 0 if nobody could attach one. */
export function maxHoldOf(
  { enabled, disabled_accounts: accounts, freeze_minutes: minutes }: InsideSettings,
  account: string,
): number {
  return enabled && !accounts.includes(account) ? Math.round(minutes * 60) : 0;
}
