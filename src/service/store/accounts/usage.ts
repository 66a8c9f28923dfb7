import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** What the jobs of one account on one machine class came to. */
export interface Usage {
  readonly account: string;
  readonly machineClass: string;
  readonly jobs: number;
  readonly machineMs: number;
  /** Micro-credits. */
  readonly charged: number;
}

/** Sums over the jobs that have ended. */
export class UsageTable {
  readonly #read: StatementSync;

  constructor(database: DatabaseSync) {
    this.#read = database.prepare(
      `SELECT account, machine_class, count(*) AS jobs, sum(charged) AS charged,
          sum(max(0, finished_at - coalesce(started_at, finished_at))) AS machine_ms
        FROM jobs WHERE finished_at >= ? AND finished_at < ? AND account = coalesce(?, account)
        GROUP BY account, machine_class`,
    );
  }

  /** The jobs that ended at `from` or later and before `to`, of one account or of all. */
  read(from: number, to: number, account?: string): readonly Usage[] {
    return this.#read.all(from, to, account ?? null).map((row) => ({
      account: String(row['account']),
      machineClass: String(row['machine_class']),
      jobs: Number(row['jobs']),
      machineMs: Number(row['machine_ms']),
      charged: Number(row['charged']),
    }));
  }
}
