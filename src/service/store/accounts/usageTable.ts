import type { DatabaseSync } from 'node:sqlite';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/tableColumns.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

const SUMS = {
  jobs: integer('jobs'),
  machineMs: integer('machine_ms'),
  /** Micro-credits. */
  charged: integer('charged'),
};
const OF_ACCOUNT = { account: text('account'), ...SUMS };
const COLUMNS = {
  ...OF_ACCOUNT,
  group: nullable(text('group_name')),
  project: nullable(text('project')),
  machineClass: text('machine_class'),
};
/** The sums of one account's jobs. */
export type AccountUsage = RecordOf<typeof OF_ACCOUNT>;
/** The sums of one account's jobs in one group, of one project, on one machine class. */
export type UsageSum = RecordOf<typeof COLUMNS>;
const toAccountUsage = rowReader(OF_ACCOUNT);
const toUsage = rowReader(COLUMNS);

const SQL = {
  read: `SELECT account, group_name, project, machine_class, count(*) AS jobs, sum(charged) AS charged,
      sum(max(0, finished_at - coalesce(started_at, finished_at))) AS machine_ms
    FROM jobs WHERE finished_at >= ? AND finished_at < ? AND account = coalesce(?, account)
    GROUP BY account, group_name, project, machine_class`,
  // An index holds all of its columns.
  ofAccounts: `SELECT account, count(*) AS jobs, sum(charged) AS charged,
      sum(max(0, finished_at - coalesce(started_at, finished_at))) AS machine_ms
    FROM jobs WHERE finished_at >= ? AND finished_at < ? GROUP BY account`,
};

/** Sums over ended jobs. */
export class UsageTable {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  /** Sums the jobs that ended from `from` to just before `to`, of one account or of all. */
  read(from: number, to: number, account?: string): readonly UsageSum[] {
    return this.#sql.read.all(from, to, account ?? null).map(toUsage);
  }

  /** The same for all accounts, faster, without projects and machine classes. */
  ofAccounts(from: number, to: number): readonly AccountUsage[] {
    return this.#sql.ofAccounts.all(from, to).map(toAccountUsage);
  }
}
