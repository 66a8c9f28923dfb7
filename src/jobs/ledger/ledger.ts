import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { AppError } from '../../core/errors.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { ownerState } from '../../core/processes/processOwner.ts';
import { writeChangeMark } from './changeMark.ts';
import { openLedgerFile, resultCode } from './ledgerFile.ts';
import { type JobFilter, jobMatcher } from './jobFilter.ts';
import { type JobPatch, type JobRecord, storedRecord } from './record.ts';
import { type ClassUse, type CurrentPeriods, type ProjectSpending, spendingOf, useOf } from './spending.ts';
import { wordsForStates } from '../../remote/protocol/spellings.ts';
import { isFinalState } from '../../remote/protocol/states.ts';

const SQLITE_CONSTRAINT = 19;

// More take longer to send to another thread than reading the first page of the list does.
const MAX_CHANGES = 500;
const DEFAULT_LIMIT = 100;
const FINAL_WORDS = wordsForStates(isFinalState);

/** What happened to the jobs since an earlier time. */
interface LedgerChanges {
  /** Pass it to the next call. */
  readonly number: number;
  /** The jobs that were added or changed, as they are now, each once. */
  readonly changed: readonly JobRecord[];
  /** The IDs of those that were deleted. */
  readonly deleted: readonly string[];
}

interface ListQuery {
  readonly host?: string;
  readonly folder?: string;
  readonly state?: string;
  /** Only jobs that have not ended, as defined by `isOver`. */
  readonly isUnfinished?: boolean;
  /** Only jobs that the user pinned. */
  readonly isPinned?: boolean;
  /** Only jobs of the sweep with this ID. */
  readonly sweep?: string;
  /** Only jobs that pass this filter. */
  readonly filter?: JobFilter;
  /** Also jobs that the user removed from the list. */
  readonly withRemoved?: boolean;
  /** 100 by default. */
  readonly limit?: number;
  /** The last record of the previous page. */
  readonly before?: Pick<JobRecord, 'createdAt' | 'id'>;
}

/**
 * The job ledger: `jobs.sqlite` in FARWHARF_HOME, shared by every window and the command line. Calls are synchronous and
 * wait up to 5 s for other processes. Those that write throw AppError `no-space` on a full disk.
 */
export class JobLedger {
  /** Why records are lost when this process ends, or why an old file was moved aside; undefined if all is well. */
  readonly problem: string | undefined;
  /** Whether the ledger is in the file, not in memory. */
  readonly isStored: boolean;
  readonly #home: string;
  readonly #database: DatabaseSync;
  readonly #now: () => number;

  /** Opens the ledger of `home`, which is created if missing. Falls back to memory, as described in `problem`. */
  constructor(home: string, options: { now?: () => number } = {}) {
    const { database, problem, isStored } = openLedgerFile(home);
    this.#home = home;
    this.#database = database;
    this.problem = problem;
    this.isStored = isStored;
    this.#now = options.now ?? Date.now;
  }

  /** @throws AppError `conflict` if the ID, or the job of this host, already exists. */
  insert(record: JobRecord): void {
    this.#run('INSERT INTO jobs (id, record) VALUES (?, ?)', record.id, JSON.stringify(record));
    this.#markChange();
  }

  /** @throws AppError `missing` if the record does not exist, `conflict` if another record has the new job ID. */
  update(id: string, patch: JobPatch): JobRecord {
    const updated = this.#transaction(() => {
      const old = this.get(id);
      if (old === undefined) throw new AppError('missing', `Job ${id} is not in the list.`);
      const record: JobRecord = { ...old, ...patch, id };
      this.#run('UPDATE jobs SET record = ? WHERE id = ?', JSON.stringify(record), id);
      return record;
    });
    this.#markChange();
    return updated;
  }

  get(id: string): JobRecord | undefined {
    return this.#records('SELECT record FROM jobs WHERE id = ?', id)[0];
  }

  /** Newest first. */
  list(query: ListQuery = {}): JobRecord[] {
    const { sql, values } = listStatement(query);
    if (query.filter === undefined) return this.#records(sql, ...values);
    const isMatch = jobMatcher(query.filter);
    const found: JobRecord[] = [];
    for (const row of this.#database.prepare(sql).iterate(...values)) {
      const record = recordOfRow(row);
      if (isMatch(record)) found.push(record);
      if (found.length >= (query.limit ?? DEFAULT_LIMIT)) break;
    }
    return found;
  }

  /** What the jobs of a host were charged in the current periods, by project. Jobs that were removed from the list count too. */
  spending(host: string, periods: CurrentPeriods): ProjectSpending[] {
    return spendingOf(this.#database, host, periods);
  }

  /** What the jobs of a host used in the current month of machine classes without a price. Removed ones count too. */
  use(host: string, periods: Pick<CurrentPeriods, 'month'>): ClassUse[] {
    return useOf(this.#database, host, periods);
  }

  /** The hosts to which jobs were sent. */
  hosts(): string[] {
    const rows = this.#database.prepare('SELECT DISTINCT host FROM jobs').all();
    return rows.map((row) => String(row['host']));
  }

  /** Records that a name may refer to: the one with exactly this ID, else all whose UUID or job ID starts with it. Removed ones too. */
  find(name: string, host?: string): JobRecord[] {
    if (name === '') return [];
    const [onHost, hosts] = host === undefined ? ['', []] : ['AND host = ?', [host]];
    const exact = this.#records(`SELECT record FROM jobs WHERE (id = ? OR job_id = ?) ${onHost}`, name, name, ...hosts);
    if (exact.length > 0) return exact;
    // A range can use the indexes, which `LIKE` on a parameter cannot.
    const range = [name, `${name}\u{10ffff}`];
    return this.#records(
      `SELECT record FROM jobs WHERE ((id >= ? AND id < ?) OR (job_id >= ? AND job_id < ?)) ${onHost}
       ORDER BY created_at DESC, id DESC LIMIT ${DEFAULT_LIMIT}`,
      ...range,
      ...range,
      ...hosts,
    );
  }

  /** The record of a job by the service's ID. */
  findJob(host: string, jobId: string): JobRecord | undefined {
    return this.#records('SELECT record FROM jobs WHERE host = ? AND job_id = ?', host, jobId)[0];
  }

  /** Hides a record; `update(id, { removed: false })` shows it again. */
  remove(id: string): void {
    this.update(id, { removed: true });
  }

  /** Deletes a record permanently, for a submit that the service refused. */
  delete(id: string): void {
    this.#run('DELETE FROM jobs WHERE id = ?', id);
    this.#markChange();
  }

  /** Increases with every change of a record by any process. Compare it to find out whether to read again. */
  revision(): number {
    return Number(this.#database.prepare('SELECT revision FROM changes').get()?.['revision']);
  }

  /**
   * What changed after an earlier call returned `number`. Undefined if there are too many changes to read at once, or the ledger was
   * replaced; read the list again then. Without a number, only the current number is returned.
   */
  changesSince(number?: number): LedgerChanges | undefined {
    return readChanges(this.#database, number);
  }

  /** Takes the lease of a job or a sweep for `ttlMs`, unless another owner holds it and is not known to have stopped. */
  claim(id: string, owner: string, ttlMs: number): boolean {
    const now = this.#now();
    const holder = this.#database.prepare('SELECT owner FROM leases WHERE job = ?').get(id)?.['owner'];
    if (typeof holder === 'string' && ownerState(holder) === 'stopped') this.release(id, holder);
    return this.#run(
      `INSERT INTO leases (job, owner, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (job) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
       WHERE leases.owner = excluded.owner OR leases.expires_at <= ?`,
      id,
      owner,
      now + ttlMs,
      now,
    );
  }

  /** Extends a lease; false if another owner holds it by now. */
  renew(id: string, owner: string, ttlMs: number): boolean {
    return this.#run('UPDATE leases SET expires_at = ? WHERE job = ? AND owner = ?', this.#now() + ttlMs, id, owner);
  }

  release(id: string, owner: string): void {
    this.#run('DELETE FROM leases WHERE job = ? AND owner = ?', id, owner);
  }

  /** Changes uploads whose process has stopped from `sending` to `unknown`, and returns their records. Call it at start and regularly. */
  settleAbandoned(): JobRecord[] {
    const settled = this.#transaction(() =>
      this.#records("SELECT record FROM jobs WHERE state = 'sending'").flatMap((record) => {
        if (this.#isLeased(record.id)) return [];
        const reason = 'Farwharf stopped during the upload, so it may have arrived. Check before you send it again.';
        const unknown: JobRecord = { ...record, state: 'unknown', reason };
        this.#run('UPDATE jobs SET record = ? WHERE id = ?', JSON.stringify(unknown), record.id);
        return [unknown];
      }),
    );
    if (settled.length > 0) this.#markChange();
    return settled;
  }

  dispose(): void {
    this.#database.close();
  }

  /** Whether an unexpired lease belongs to a process that is not known to have stopped. */
  #isLeased(id: string): boolean {
    const query = 'SELECT owner FROM leases WHERE job = ? AND expires_at > ?';
    const lease = this.#database.prepare(query).get(id, this.#now());
    return lease !== undefined && ownerState(String(lease['owner'])) !== 'stopped';
  }

  #markChange(): void {
    if (this.isStored) writeChangeMark(this.#home);
  }

  #run(sql: string, ...values: SQLInputValue[]): boolean {
    return this.#write(() => Number(this.#database.prepare(sql).run(...values).changes) > 0);
  }

  #records(sql: string, ...values: SQLInputValue[]): JobRecord[] {
    const rows = this.#database.prepare(sql).all(...values);
    return rows.map(recordOfRow);
  }

  #transaction<T>(work: () => T): T {
    return this.#write(() => {
      this.#database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#database.exec('COMMIT');
        return result;
      } catch (error) {
        // On a full disk SQLite has already rolled back: https://sqlite.org/lang_transaction.html#immediate
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #write<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (resultCode(error) !== SQLITE_CONSTRAINT) throw diskError(error, this.#home);
      throw new AppError('conflict', 'This job is already in the list.', { cause: error });
    }
  }
}

/** The implementation of `JobLedger.changesSince`. */
function readChanges(database: DatabaseSync, number?: number): LedgerChanges | undefined {
  const last = Number(database.prepare('SELECT coalesce(max(number), 0) AS last FROM job_changes').get()?.['last']);
  if (number === undefined) return { number: last, changed: [], deleted: [] };
  if (number > last) return undefined;
  // Up to `last`, because another process may change more in between.
  const rows = database
    .prepare(
      `SELECT job_changes.job, jobs.record FROM job_changes LEFT JOIN jobs ON jobs.id = job_changes.job
       WHERE number > ? AND number <= ? ORDER BY number LIMIT ?`,
    )
    .all(number, last, MAX_CHANGES + 1);
  if (rows.length > MAX_CHANGES) return undefined;
  return {
    number: last,
    changed: rows.filter(({ record }) => record !== null).map(recordOfRow),
    deleted: rows.filter(({ record }) => record === null).map(({ job }) => String(job)),
  };
}

/** The record in a row of the table `jobs`. */
function recordOfRow(row: Record<string, SQLOutputValue>): JobRecord {
  return storedRecord.parse(JSON.parse(String(row['record'])));
}

/** The statement that selects the records of a list, newest first, and its parameters. It does not apply `filter`, and limits nothing if there is one. */
function listStatement(query: ListQuery): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const where = (condition: string, ...input: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...input);
  };
  if (query.withRemoved !== true) where('removed = 0');
  if (query.host !== undefined) where('host = ?', query.host);
  if (query.folder !== undefined) where('folder = ?', query.folder);
  if (query.state !== undefined) where('state = ?', query.state);
  if (query.sweep !== undefined) where("record ->> '$.sweep.id' = ?", query.sweep);
  if (query.isPinned === true) where("record ->> 'pinned' = 1");
  if (query.isUnfinished === true) {
    where(`lower(state) NOT IN (${FINAL_WORDS.map(() => '?').join(', ')})`, ...FINAL_WORDS);
    where("json_extract(record, '$.finishedAt') IS NULL AND json_extract(record, '$.exitCode') IS NULL");
  }
  if (query.before !== undefined) where('(created_at, id) < (?, ?)', query.before.createdAt, query.before.id);
  const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const sql = `SELECT record FROM jobs ${filter} ORDER BY created_at DESC, id DESC LIMIT ?`;
  return { sql, values: [...values, query.filter === undefined ? (query.limit ?? DEFAULT_LIMIT) : -1] };
}
