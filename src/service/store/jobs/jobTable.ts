import type { DatabaseSync } from 'node:sqlite';
import { parseOwnJson } from '../../../core/jsonFields.ts';
import type { FreezeEventData, Frozen } from '../../../remote/protocol/debugging.ts';
import type { FinalState, JobState, UnfinishedState } from '../../../remote/protocol/states.ts';
import {
  byColumnName,
  integer,
  nullable,
  type RecordOf,
  rowReader,
  text,
  type WrittenOf,
} from '../database/tableColumns.ts';
import { type Insert, inserter, prepareAll, type Statements, updater } from '../database/sqlStatements.ts';
import type { Emitter } from '../../../core/processes/lifetime.ts';

/** What a submission sets. Times are in milliseconds since 1970, amounts in micro-credits. */
const SUBMITTED = {
  id: text('id'),
  account: text('account'),
  /** With its arguments; the title of a command. */
  script: text('script'),
  /** The words of a command, as JSON; null for a script. */
  command: nullable(text('command')),
  project: nullable(text('project')),
  machineClass: text('machine_class'),
  /** Seconds. */
  maxRuntime: integer('max_runtime'),
  createdAt: integer('created_at'),
  hold: integer('hold'),
  /** The API key of the submission; null for the key of `local`, which is not in the store. */
  keyId: nullable(text('key_id')),
  /** The account's group at the submission. */
  group: nullable(text('group_name')),
  /** Cores and GPUs of a machine class that had no price at the submission; null for one with a price. */
  unpricedCpus: nullable(integer('unpriced_cpus')),
  unpricedGpus: nullable(integer('unpriced_gpus')),
  /** How it waits for a debugger, as JSON; null if it does not. */
  debug: nullable(text('debug')),
  /** Seconds that it may be frozen in all; null if it does not wait for a debugger. */
  holdSeconds: nullable(integer('hold_seconds')),
};
const STATE = { state: text<JobState>('state') };
/** What the end of a job sets. */
const ENDED = {
  ...STATE,
  finishedAt: nullable(integer('finished_at')),
  exitCode: nullable(integer('exit_code')),
  reason: nullable(text('reason')),
  charged: nullable(integer('charged')),
};
/**
 * The table of jobs. A new column is declared here, and nothing else: `nullable`, because the jobs of earlier versions lack it. Clients
 * get it as soon as the protocol's job declares a field with its name.
 */
export const JOB_COLUMNS = {
  number: integer('number'),
  ...SUBMITTED,
  ...ENDED,
  startedAt: nullable(integer('started_at')),
  /** How many bytes of the runner's output log are in the event store. */
  logOffset: integer('log_offset'),
  /** When its results were removed because of their age or size. */
  filesRemovedAt: nullable(integer('files_removed_at')),
  /** By which its executor's own tools know it, such as Slurm's job number; null without one. */
  executorId: nullable(text('executor_id')),
  /** The sentence about an operator's order to cancel it. */
  cancelReason: nullable(text('cancel_reason')),
  /** Why the service stopped it, such as for its use of the disk. */
  stopReason: nullable(text('stop_reason')),
  /** Where it waits for a debugger, as JSON; null while it does not. */
  frozen: nullable(text('frozen')),
  /** How long it had been frozen before, in milliseconds. */
  frozenMs: nullable(integer('frozen_ms')),
};

export type StoredJob = RecordOf<typeof JOB_COLUMNS>;
export type NewJob = WrittenOf<typeof SUBMITTED>;
export type Ending = WrittenOf<typeof ENDED> & {
  readonly state: FinalState;
  readonly finishedAt: number;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly charged: number;
};

/** A change of the store, for metrics. */
export type StoreChange =
  | { readonly type: 'submitted'; readonly job: NewJob }
  | { readonly type: 'started'; readonly job: StoredJob; readonly at: number }
  | { readonly type: 'ended'; readonly job: StoredJob; readonly ending: Ending }
  | { readonly type: 'events'; readonly count: number };

/** Whether the machine class of a job had no price when it was submitted, so that it costs no credits. */
export function isUnpricedJob({ unpricedCpus = null }: Pick<NewJob, 'unpricedCpus'>): boolean {
  return unpricedCpus !== null;
}

/**
 * The ending of a job that an operator has cancelled: the reason starts with that. One that the service has stopped has failed, whatever
 * its script did if its files were removed.
 */
export function explainedByOrder(
  ending: Ending,
  { cancelReason, stopReason, filesRemovedAt }: Pick<StoredJob, 'cancelReason' | 'stopReason' | 'filesRemovedAt'>,
): Ending {
  const isStopped = stopReason !== null && (ending.state === 'cancelled' || filesRemovedAt !== null);
  if (isStopped && cancelReason === null) return { ...ending, state: 'failed', reason: stopReason };
  if (ending.state !== 'cancelled' || cancelReason === null) return ending;
  return { ...ending, reason: ending.reason === null ? cancelReason : `${cancelReason} ${ending.reason}` };
}

/** Since when a job is frozen, in milliseconds since 1970. */
export function frozenSince(frozen: StoredJob['frozen']): number | undefined {
  return frozen === null ? undefined : Date.parse(parseOwnJson<Frozen>(frozen).since);
}

/** Reads a row of the table. */
export const toJob = rowReader(JOB_COLUMNS);

/** The values of a job by the names of their columns. */
export function jobColumns(job: StoredJob): Readonly<Record<string, unknown>> {
  return byColumnName(JOB_COLUMNS, job);
}

const SQL = {
  get: 'SELECT * FROM jobs WHERE id = ?',
  number: 'SELECT number FROM jobs WHERE id = ?',
  find: 'SELECT * FROM jobs WHERE id = ? AND account = ?',
  unfinished: 'SELECT * FROM jobs WHERE finished_at IS NULL ORDER BY number',
  oldestUnfinished: 'SELECT * FROM jobs WHERE finished_at IS NULL ORDER BY number LIMIT ?',
  countUnfinished: 'SELECT count(*) AS count FROM jobs WHERE finished_at IS NULL',
  queuesAtLeast: "SELECT 1 FROM jobs WHERE account = ? AND state = 'queued' AND finished_at IS NULL LIMIT 1 OFFSET ?",
  countOf: `SELECT count(*) FILTER (WHERE state = 'queued') AS queued, count(*) FILTER (WHERE state <> 'queued') AS active
    FROM jobs WHERE account = ? AND finished_at IS NULL`,
  countByState:
    'SELECT state, machine_class, count(*) AS count FROM jobs WHERE finished_at IS NULL GROUP BY state, machine_class',
  queued:
    "SELECT count(*) AS count, min(created_at) AS oldest FROM jobs WHERE finished_at IS NULL AND state = 'queued'",
  list: 'SELECT * FROM jobs WHERE account = ? AND number < ? ORDER BY number DESC LIMIT ?',
  setState: 'UPDATE jobs SET state = ?, started_at = ?, reason = ? WHERE id = ?',
  setLogOffset: 'UPDATE jobs SET log_offset = ? WHERE id = ?',
  setCancelReason: 'UPDATE jobs SET cancel_reason = ? WHERE id = ?',
  setStopped: 'UPDATE jobs SET stop_reason = ?, files_removed_at = ? WHERE id = ? AND finished_at IS NULL',
  freeze: 'UPDATE jobs SET frozen = ? WHERE id = ?',
  thaw: 'UPDATE jobs SET frozen = NULL, frozen_ms = coalesce(frozen_ms, 0) + ? WHERE id = ?',
  extendHold: 'UPDATE jobs SET hold = ?, hold_seconds = ? WHERE id = ?',
  setExecutorId: 'UPDATE jobs SET executor_id = ? WHERE id = ?',
};

/** The table of jobs. Methods that write expect the caller's transaction. */
export class JobTable {
  readonly #sql: Statements<typeof SQL>;
  readonly #insert: Insert<typeof SUBMITTED & typeof STATE>;
  /** Stores the end of the job with an ID. */
  readonly finish: (id: string, ending: Ending) => void;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
    this.#insert = inserter(database, 'INSERT INTO jobs', { ...SUBMITTED, ...STATE });
    this.finish = updater(database, 'jobs', ENDED);
  }

  /** Finds a job of any account, for the service itself. */
  get(id: string): StoredJob | undefined {
    const row = this.#sql.get.get(id);
    return row && toJob(row);
  }

  /** The number of a job, which its rows in other tables have. */
  numberOf(id: string): number | undefined {
    const number = this.#sql.number.get(id)?.['number'];
    return number === undefined ? undefined : Number(number);
  }

  /** Finds a job of one account. */
  find(account: string, id: string): StoredJob | undefined {
    const row = this.#sql.find.get(id, account);
    return row && toJob(row);
  }

  /** Unfinished jobs in the order of their submission. */
  unfinished(): readonly StoredJob[] {
    return this.#sql.unfinished.all().map(toJob);
  }

  /** The unfinished jobs that were submitted first. */
  oldestUnfinished(limit: number): readonly StoredJob[] {
    return this.#sql.oldestUnfinished.all(limit).map(toJob);
  }

  countUnfinished(): number {
    return Number(this.#sql.countUnfinished.get()?.['count']);
  }

  /** Whether at least `count` (1 or more) jobs of an account are queued. Reads that many rows, not all of them. */
  queuesAtLeast(account: string, count: number): boolean {
    return Number.isFinite(count) && this.#sql.queuesAtLeast.get(account, count - 1) !== undefined;
  }

  /** How many jobs of an account are queued, and how many have left the queue and not ended. */
  countOf(account: string): { readonly queued: number; readonly active: number } {
    const row = this.#sql.countOf.get(account);
    return { queued: Number(row?.['queued']), active: Number(row?.['active']) };
  }

  /** An account's jobs, newest first, starting after `before` if given. */
  list(account: string, limit: number, before?: StoredJob): readonly StoredJob[] {
    return this.#sql.list.all(account, before?.number ?? Number.MAX_SAFE_INTEGER, limit).map(toJob);
  }

  /** How many jobs of all accounts are queued, and when the oldest was submitted, in milliseconds since 1970. */
  queued(): { readonly count: number; readonly oldestAt: number | undefined } {
    const row = this.#sql.queued.get();
    const oldest = row?.['oldest'] ?? undefined;
    return { count: Number(row?.['count']), oldestAt: oldest === undefined ? undefined : Number(oldest) };
  }

  /** Counts unfinished jobs by state and machine class. */
  countByState(): readonly { state: string; machineClass: string; count: number }[] {
    return this.#sql.countByState.all().map((row) => ({
      state: String(row['state']),
      machineClass: String(row['machine_class']),
      count: Number(row['count']),
    }));
  }

  /** Returns the new job's number. */
  insert(job: NewJob): number {
    return Number(this.#insert({ ...job, state: 'queued' }).lastInsertRowid);
  }

  setState(id: string, state: UnfinishedState, startedAt: number | null, reason: string | null): void {
    this.#sql.setState.run(state, startedAt, reason, id);
  }

  setLogOffset(id: string, offset: number): void {
    this.#sql.setLogOffset.run(offset, id);
  }

  /** Stores where a job waits for a debugger, or that it continues since a time. */
  noteFreeze(id: string, { at, frozen }: FreezeEventData): void {
    if (frozen !== null) {
      this.#sql.freeze.run(JSON.stringify(frozen), id);
      return;
    }
    const since = frozenSince(this.get(id)?.frozen ?? null);
    this.#sql.thaw.run(since === undefined ? 0 : Math.max(0, Date.parse(at) - since), id);
  }

  /** @param hold micro-credits, for all of the time. */
  extendHold(id: string, hold: number, holdSeconds: number): void {
    this.#sql.extendHold.run(hold, holdSeconds, id);
  }

  setCancelReason(id: string, sentence: string): void {
    this.#sql.setCancelReason.run(sentence, id);
  }

  /** One durable statement, unless a transaction is open. */
  /** Stores why the service stops a job. @param removedAt since when its files are being removed; null if it keeps them. */
  setStopped(id: string, reason: string, removedAt: number | null): void {
    this.#sql.setStopped.run(reason, removedAt, id);
  }

  setExecutorId(id: string, executorId: string): void {
    this.#sql.setExecutorId.run(executorId, id);
  }
}

/** Counts the queued, starting and running jobs. Counting their rows for each submission would take a millisecond with a long queue. */
export class UnfinishedJobs {
  #count: number;

  constructor(jobs: Pick<JobTable, 'countUnfinished'>, changed: Pick<Emitter<StoreChange>, 'event'>) {
    this.#count = jobs.countUnfinished();
    changed.event(({ type }) => {
      if (type === 'submitted') this.#count += 1;
      else if (type === 'ended') this.#count -= 1;
    });
  }

  get count(): number {
    return this.#count;
  }
}
