import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/columns.ts';

/** The sums of one account's jobs of one project on one machine class. */
const COLUMNS = {
  account: text('account'),
  project: nullable(text('project')),
  machineClass: text('machine_class'),
  jobs: integer('jobs'),
  machineMs: integer('machine_ms'),
  /** Micro-credits. */
  charged: integer('charged'),
};
export type Usage = RecordOf<typeof COLUMNS>;
const toUsage = rowReader(COLUMNS);

/** Sums over ended jobs. */
export class UsageTable {
  readonly #read: StatementSync;

  constructor(database: DatabaseSync) {
    this.#read = database.prepare(
      `SELECT account, project, machine_class, count(*) AS jobs, sum(charged) AS charged,
          sum(max(0, finished_at - coalesce(started_at, finished_at))) AS machine_ms
        FROM jobs WHERE finished_at >= ? AND finished_at < ? AND account = coalesce(?, account)
        GROUP BY account, project, machine_class`,
    );
  }

  /** Sums the jobs that ended from `from` to just before `to`, of one account or of all. */
  read(from: number, to: number, account?: string): readonly Usage[] {
    return this.#read.all(from, to, account ?? null).map(toUsage);
  }
}
