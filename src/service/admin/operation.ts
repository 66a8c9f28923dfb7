import * as z from 'zod';
import type { AuditEntry, Operator } from '../store/accounts/auditEntry.ts';
import type { OpenTunnel } from '../http/openTunnels.ts';
import type { OperatorLinks } from '../http/page/operatorLinks.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';

/** What an operation works on: a running service, or the store of one that is not running. */
export interface AdminContext {
  readonly store: Store;
  /** The data folder. */
  readonly data: string;
  readonly operator: Operator;
  /** Returns why no job can start now; only a running service knows. */
  readonly refusal?: () => string | undefined;
  /** Returns how many jobs the executor has now; only a running service knows. */
  readonly activeJobs?: () => number;
  /** The page for browsers; only a running service that serves it has it. */
  readonly page?: { readonly links: OperatorLinks; readonly url: () => string };
  /** Returns who is connected to a job; only a running service knows. */
  readonly tunnels?: (jobId: string) => readonly OpenTunnel[];
  /** Cancels a job, and waits a moment for its end; only a running service can. */
  readonly cancel?: (job: StoredJob) => Promise<void>;
}

/** What an operation changes. */
export type AuditTarget = Pick<AuditEntry, 'account_id' | 'key_id' | 'job_id'>;

/** What the audit trail stores about an operation. It runs in the entry's transaction, so it must not return a promise. */
interface Audit<Input, Output> {
  /** The account, the key and the job that it changes. The output is there once it has succeeded. */
  target(input: Input, output?: Output): AuditTarget;
  /** Their state, without secrets. @throws AppError `missing` if they do not exist. */
  state(store: Store, target: AuditTarget, input: Input): unknown;
}

/**
 * One thing that an administrator can do, through a running service or on the store of one that is not running. Input and output
 * are JSON, described by its schemas.
 */
export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly input: Input;
  readonly output: Output;
  /** Undefined if it changes nothing. */
  readonly audit?: Audit<z.output<Input>, z.input<Output>>;
  run(context: AdminContext, input: z.output<Input>): z.input<Output> | Promise<z.input<Output>>;
  /** What is done after the change and its entry are stored, because it cannot be part of their transaction. Returns the output. */
  afterwards?(context: AdminContext, input: z.output<Input>): Promise<z.input<Output>>;
}

/** Infers the types of an operation from its schemas. */
export function operation<Input extends z.ZodType, Output extends z.ZodType>(
  definition: Operation<Input, Output>,
): Operation<Input, Output> {
  return definition;
}

export const adminTime = z.iso.datetime();

/** Milliseconds since 1970 as JSON shows a time. */
export function showAdminTime(milliseconds: number): string;
export function showAdminTime(milliseconds: number | null): string | null;
export function showAdminTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
