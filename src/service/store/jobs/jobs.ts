import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { FinalState, JobState, UnfinishedState } from '../../../remote/protocol/states.ts';

/** A job as the store keeps it: times in milliseconds since 1970, amounts in micro-credits. */
export interface StoredJob {
  readonly number: number;
  readonly id: string;
  readonly account: string;
  readonly state: JobState;
  readonly script: string;
  readonly project: string | null;
  readonly machineClass: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly hold: number;
  readonly charged: number | null;
  /** How many bytes of the runner's output log are in the event store. */
  readonly logOffset: number;
  /** When its results were removed because of their age or size. */
  readonly filesRemovedAt: number | null;
}

export type NewJob = Pick<
  StoredJob,
  'id' | 'account' | 'script' | 'project' | 'machineClass' | 'maxRuntime' | 'createdAt' | 'hold'
>;

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
    this.#insert = database.prepare(
      `INSERT INTO jobs (id, account, state, script, project, machine_class, max_runtime, created_at, hold)
       VALUES (?, ?, 'queued', ?, ?, ?, ?, ?, ?)`,
    );
    this.#setState = database.prepare('UPDATE jobs SET state = ?, started_at = ?, reason = ? WHERE id = ?');
    this.#setLogOffset = database.prepare('UPDATE jobs SET log_offset = ? WHERE id = ?');
    this.#finish = database.prepare(
      'UPDATE jobs SET state = ?, finished_at = ?, exit_code = ?, reason = ?, charged = ? WHERE id = ?',
    );
  }

  /** A job of any account: for the service itself, never for whoever asks it. */
  get(id: string): StoredJob | undefined {
    const row = this.#get.get(id);
    return row && toJob(row);
  }

  /** The number that a job's rows in other tables carry. */
  numberOf(id: string): number | undefined {
    const number = this.#number.get(id)?.['number'];
    return number === undefined ? undefined : Number(number);
  }

  /** A job as its account sees it: those of others are not there. */
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

  /** Whether so many jobs of an account, one at least, wait for their turn. Costs a look at so many, not at all of them. */
  queuesAtLeast(account: string, count: number): boolean {
    return Number.isFinite(count) && this.#queuesAtLeast.get(account, count - 1) !== undefined;
  }

  /** How many jobs of an account wait for their turn, and how many are past that and have not ended. */
  countOf(account: string): { readonly queued: number; readonly active: number } {
    const row = this.#countOf.get(account);
    return { queued: Number(row?.['queued']), active: Number(row?.['active']) };
  }

  /** An account's newest jobs first, those submitted before `before` when it is given. */
  list(account: string, limit: number, before?: StoredJob): readonly StoredJob[] {
    return this.#list.all(account, before?.number ?? Number.MAX_SAFE_INTEGER, limit).map(toJob);
  }

  /** How many unfinished jobs are in each state, by machine class. */
  countByState(): readonly { state: string; machineClass: string; count: number }[] {
    return this.#countByState.all().map((row) => ({
      state: String(row['state']),
      machineClass: String(row['machine_class']),
      count: Number(row['count']),
    }));
  }

  /** Gives the new job's number. */
  insert({ id, account, script, project, machineClass, maxRuntime, createdAt, hold }: NewJob): number {
    const job = [id, account, script, project, machineClass, maxRuntime, createdAt, hold];
    return Number(this.#insert.run(...job).lastInsertRowid);
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

/** A row of the table. */
export function toJob(row: Record<string, SQLOutputValue>): StoredJob {
  const number = (name: string): number | null => (row[name] === null ? null : Number(row[name]));
  const text = (name: string): string | null => (row[name] === null ? null : String(row[name]));
  return {
    number: Number(row['number']),
    id: String(row['id']),
    account: String(row['account']),
    state: String(row['state']) as StoredJob['state'],
    script: String(row['script']),
    project: text('project'),
    machineClass: String(row['machine_class']),
    maxRuntime: Number(row['max_runtime']),
    createdAt: Number(row['created_at']),
    startedAt: number('started_at'),
    finishedAt: number('finished_at'),
    exitCode: number('exit_code'),
    reason: text('reason'),
    hold: Number(row['hold']),
    charged: number('charged'),
    logOffset: Number(row['log_offset']),
    filesRemovedAt: number('files_removed_at'),
  };
}
