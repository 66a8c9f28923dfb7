import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FinalState, JobState, UnfinishedState } from '../../../remote/protocol/states.ts';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/columns.ts';

/** The table of jobs: times in milliseconds since 1970, amounts in micro-credits. */
const COLUMNS = {
  number: integer('number'),
  id: text('id'),
  account: text('account'),
  state: text<JobState>('state'),
  script: text('script'),
  project: nullable(text('project')),
  machineClass: text('machine_class'),
  /** Seconds. */
  maxRuntime: integer('max_runtime'),
  createdAt: integer('created_at'),
  startedAt: nullable(integer('started_at')),
  finishedAt: nullable(integer('finished_at')),
  exitCode: nullable(integer('exit_code')),
  reason: nullable(text('reason')),
  hold: integer('hold'),
  charged: nullable(integer('charged')),
  /** How many bytes of the runner's output log are in the event store. */
  logOffset: integer('log_offset'),
  /** When its results were removed because of their age or size. */
  filesRemovedAt: nullable(integer('files_removed_at')),
};
/** The columns that a submission sets. */
const NEW = ['id', 'account', 'script', 'project', 'machineClass', 'maxRuntime', 'createdAt', 'hold'] as const;

export type StoredJob = RecordOf<typeof COLUMNS>;
export type NewJob = Pick<StoredJob, (typeof NEW)[number]>;

/** Reads a row of the table. */
export const toJob = rowReader(COLUMNS);

export interface Ending {
  readonly state: FinalState;
  readonly finishedAt: number;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly charged: number;
}

/** The table of jobs. Methods that write expect the caller's transaction. */
export class JobTable {
  readonly #get: StatementSync;
  readonly #number: StatementSync;
  readonly #find: StatementSync;
  readonly #unfinished: StatementSync;
  readonly #countUnfinished: StatementSync;
  readonly #queuesAtLeast: StatementSync;
  readonly #countOf: StatementSync;
  readonly #countByState: StatementSync;
  readonly #list: StatementSync;
  readonly #insert: StatementSync;
  readonly #setState: StatementSync;
  readonly #setLogOffset: StatementSync;
  readonly #finish: StatementSync;

  constructor(database: DatabaseSync) {
    this.#get = database.prepare('SELECT * FROM jobs WHERE id = ?');
    this.#number = database.prepare('SELECT number FROM jobs WHERE id = ?');
    this.#find = database.prepare('SELECT * FROM jobs WHERE id = ? AND account = ?');
    this.#unfinished = database.prepare('SELECT * FROM jobs WHERE finished_at IS NULL ORDER BY number');
    this.#countUnfinished = database.prepare('SELECT count(*) AS count FROM jobs WHERE finished_at IS NULL');
    this.#queuesAtLeast = database.prepare(
      "SELECT 1 FROM jobs WHERE account = ? AND state = 'queued' AND finished_at IS NULL LIMIT 1 OFFSET ?",
    );
    this.#countOf = database.prepare(
      `SELECT count(*) FILTER (WHERE state = 'queued') AS queued, count(*) FILTER (WHERE state <> 'queued') AS active
        FROM jobs WHERE account = ? AND finished_at IS NULL`,
    );
    this.#countByState = database.prepare(
      'SELECT state, machine_class, count(*) AS count FROM jobs WHERE finished_at IS NULL GROUP BY state, machine_class',
    );
    this.#list = database.prepare('SELECT * FROM jobs WHERE account = ? AND number < ? ORDER BY number DESC LIMIT ?');
    const names = NEW.map((field) => COLUMNS[field].name);
    this.#insert = database.prepare(
      `INSERT INTO jobs (state, ${names.join(', ')}) VALUES ('queued', ${names.map(() => '?').join(', ')})`,
    );
    this.#setState = database.prepare('UPDATE jobs SET state = ?, started_at = ?, reason = ? WHERE id = ?');
    this.#setLogOffset = database.prepare('UPDATE jobs SET log_offset = ? WHERE id = ?');
    this.#finish = database.prepare(
      'UPDATE jobs SET state = ?, finished_at = ?, exit_code = ?, reason = ?, charged = ? WHERE id = ?',
    );
  }

  /** Finds a job of any account, for the service itself. */
  get(id: string): StoredJob | undefined {
    const row = this.#get.get(id);
    return row && toJob(row);
  }

  /** The number of a job, which its rows in other tables have. */
  numberOf(id: string): number | undefined {
    const number = this.#number.get(id)?.['number'];
    return number === undefined ? undefined : Number(number);
  }

  /** Finds a job of one account. */
  find(account: string, id: string): StoredJob | undefined {
    const row = this.#find.get(id, account);
    return row && toJob(row);
  }

  /** Unfinished jobs in the order of their submission. */
  unfinished(): readonly StoredJob[] {
    return this.#unfinished.all().map(toJob);
  }

  countUnfinished(): number {
    return Number(this.#countUnfinished.get()?.['count']);
  }

  /** Whether at least `count` (1 or more) jobs of an account are queued. Reads that many rows, not all of them. */
  queuesAtLeast(account: string, count: number): boolean {
    return Number.isFinite(count) && this.#queuesAtLeast.get(account, count - 1) !== undefined;
  }

  /** How many jobs of an account are queued, and how many have left the queue and not ended. */
  countOf(account: string): { readonly queued: number; readonly active: number } {
    const row = this.#countOf.get(account);
    return { queued: Number(row?.['queued']), active: Number(row?.['active']) };
  }

  /** An account's jobs, newest first, starting after `before` if given. */
  list(account: string, limit: number, before?: StoredJob): readonly StoredJob[] {
    return this.#list.all(account, before?.number ?? Number.MAX_SAFE_INTEGER, limit).map(toJob);
  }

  /** Counts unfinished jobs by state and machine class. */
  countByState(): readonly { state: string; machineClass: string; count: number }[] {
    return this.#countByState.all().map((row) => ({
      state: String(row['state']),
      machineClass: String(row['machine_class']),
      count: Number(row['count']),
    }));
  }

  /** Returns the new job's number. */
  insert(job: NewJob): number {
    return Number(this.#insert.run(...NEW.map((field) => job[field])).lastInsertRowid);
  }

  setState(id: string, state: UnfinishedState, startedAt: number | null, reason: string | null): void {
    this.#setState.run(state, startedAt, reason, id);
  }

  setLogOffset(id: string, offset: number): void {
    this.#setLogOffset.run(offset, id);
  }

  finish(id: string, { state, finishedAt, exitCode, reason, charged }: Ending): void {
    this.#finish.run(state, finishedAt, exitCode, reason, charged, id);
  }
}
