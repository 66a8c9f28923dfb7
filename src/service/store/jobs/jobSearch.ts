import type { DatabaseSync } from 'node:sqlite';
import { Yielder } from '../../../core/processes/yielder.ts';
import type { JobState } from '../../../remote/protocol/states.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';
import { type StoredJob, toJob } from './jobTable.ts';

/** The search criteria. An absent one matches every job. */
export interface JobQuery {
  readonly account?: string | undefined;
  readonly state?: JobState | undefined;
  readonly project?: string | undefined;
  readonly machineClass?: string | undefined;
  /** The earliest submission, in milliseconds since 1970. */
  readonly since?: number | undefined;
}

// Jobs that one statement reads at most: a few milliseconds of work.
const WINDOW = 5_000;
const SQL = {
  last: 'SELECT max(number) AS number FROM jobs',
  // The window bounds the rows that are read, because no index serves every filter.
  window: `SELECT * FROM jobs WHERE number < $before AND number >= $from AND created_at >= $since
    AND account = coalesce($account, account) AND state = coalesce($state, state)
    AND machine_class = coalesce($machineClass, machine_class) AND ($project IS NULL OR project = $project)
    ORDER BY number DESC LIMIT $limit`,
};

/** Finds jobs of all accounts, for operators. */
export class JobSearch {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  /** The newest matching jobs, newest first, older than the job `before` if given. Other work continues meanwhile. */
  async find(
    { account, state, project, machineClass, since = 0 }: JobQuery,
    { limit, before }: { readonly limit: number; readonly before?: StoredJob | undefined },
  ): Promise<readonly StoredJob[]> {
    const filter = {
      account: account ?? null,
      state: state ?? null,
      project: project ?? null,
      machineClass: machineClass ?? null,
      since,
    };
    const found: StoredJob[] = [];
    const yielder = new Yielder();
    let end = before?.number ?? Number(this.#sql.last.get()?.['number'] ?? 0) + 1;
    for (; end > 1 && found.length < limit; end -= WINDOW) {
      const window = { before: end, from: end - WINDOW, limit: limit - found.length };
      found.push(...this.#sql.window.all({ ...filter, ...window }).map(toJob));
      if (yielder.isDue) await yielder.pause();
    }
    return found;
  }
}
