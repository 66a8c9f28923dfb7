import type { JobPatch, JobRecord } from './record.ts';

export interface ListQuery {
  readonly host?: string;
  readonly folder?: string;
  /** Also those that a person took off the list. */
  readonly withRemoved?: boolean;
  /** 100 unless given. */
  readonly limit?: number;
  /** The last record of the page before. */
  readonly before?: Pick<JobRecord, 'createdAt' | 'id'>;
}

/**
 * The job ledger: `jobs.sqlite` in FARWHARF_HOME, shared by every window and the command line. Calls are synchronous and
 * wait up to 5 s for other processes.
 */
export class JobLedger {
  /** Why nothing is kept after this process, or why an old file was moved aside; undefined when all is well. */
  readonly problem: string | undefined;

  /** Opens the ledger of `home`, which is made where missing. Falls back to memory and says so in `problem`. */
  constructor(_home: string) {
    throw new Error('not built yet');
  }

  /** @throws AppError `conflict` when the id, or the job of this host, is already there. */
  insert(_record: JobRecord): void {
    throw new Error('not built yet');
  }

  /** @throws AppError `missing` when there is no such record. */
  update(_id: string, _patch: JobPatch): JobRecord {
    throw new Error('not built yet');
  }

  get(_id: string): JobRecord | undefined {
    throw new Error('not built yet');
  }

  /** Newest first. */
  list(_query: ListQuery = {}): JobRecord[] {
    throw new Error('not built yet');
  }

  /** Records that a person may mean: the service's id exactly, else every one whose UUID or job id starts so. Removed ones too. */
  find(_name: string, _host?: string): JobRecord[] {
    throw new Error('not built yet');
  }

  /** The record of a service's job. */
  findJob(_host: string, _jobId: string): JobRecord | undefined {
    throw new Error('not built yet');
  }

  /** Takes a record off the list; `update(id, { removed: false })` brings it back. */
  remove(_id: string): void {
    throw new Error('not built yet');
  }

  /** Forgets a record for good: for a submit that the service refused. */
  delete(_id: string): void {
    throw new Error('not built yet');
  }

  /** Grows with every change of a record by any process; compare it to know whether to read again. */
  revision(): number {
    throw new Error('not built yet');
  }

  /** Takes the lease of a job for `ttlMs`, unless another owner holds it. */
  claim(_id: string, _owner: string, _ttlMs: number): boolean {
    throw new Error('not built yet');
  }

  /** Extends a lease; false when it was lost meanwhile. */
  renew(_id: string, _owner: string, _ttlMs: number): boolean {
    throw new Error('not built yet');
  }

  release(_id: string, _owner: string): void {
    throw new Error('not built yet');
  }

  /** Turns uploads whose process is gone from `sending` into `unknown`; gives those records. Call it at start. */
  settleAbandoned(): JobRecord[] {
    throw new Error('not built yet');
  }

  dispose(): void {
    throw new Error('not built yet');
  }
}
