import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import type { StoredJob } from '../jobs/jobTable.ts';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/tableColumns.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

export type BudgetKind = 'group' | 'project';

/** Micro-credits that can be spent, and what limits them. */
export interface Spendable {
  readonly amount: number;
  readonly limit: 'account' | 'key' | 'group' | 'project';
  /** Of the group or project. */
  readonly name?: string;
}

/** Whether a job was accepted, and what can be spent: after it, or if it was refused, at most. */
export interface SubmitOutcome {
  readonly isAccepted: boolean;
  readonly available: Spendable;
}

export const BUDGET_TABLE = `
  CREATE TABLE IF NOT EXISTS budgets (
    kind         TEXT NOT NULL CHECK (kind IN ('group','project')),
    name         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    budget       INTEGER CHECK (budget >= 0),
    running_jobs INTEGER CHECK (running_jobs >= 0),
    cost         INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, name)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS jobs_of_groups ON jobs (group_name, charged, hold) WHERE group_name IS NOT NULL;
  CREATE INDEX IF NOT EXISTS jobs_of_projects ON jobs (project, charged, hold) WHERE project IS NOT NULL`;
const COLUMNS = {
  kind: text<BudgetKind>('kind'),
  name: text('name'),
  /** Milliseconds since 1970. */
  createdAt: integer('created_at'),
  /** Micro-credits that all of its jobs together may cost; null for no limit. */
  budget: nullable(integer('budget')),
  /** Jobs of a group that run at once; null for no limit. */
  runningJobs: nullable(integer('running_jobs')),
  /** What its jobs cost: the charges of those that have ended, and the holds of the others. */
  cost: integer('cost'),
};
/** A group of accounts, or a project, with what its jobs may cost together. */
export type StoredBudget = RecordOf<typeof COLUMNS>;
type BudgetChanges = Partial<Pick<StoredBudget, 'budget' | 'runningJobs'>>;
/** Whose budgets a job counts against. */
export type BudgetOwner = Partial<Pick<StoredJob, BudgetKind>>;

const toBudget = rowReader(COLUMNS);
const COST = {
  group: 'SELECT coalesce(sum(coalesce(charged, hold)), 0) FROM jobs WHERE group_name = budgets.name',
  project: 'SELECT coalesce(sum(coalesce(charged, hold)), 0) FROM jobs WHERE project = budgets.name',
};
const SQL = {
  get: 'SELECT * FROM budgets WHERE kind = ? AND name = ?',
  list: 'SELECT * FROM budgets WHERE kind = ? ORDER BY name',
  insert: 'INSERT OR IGNORE INTO budgets (kind, name, created_at, budget, running_jobs) VALUES (?, ?, ?, ?, ?)',
  edit: 'UPDATE budgets SET budget = ?, running_jobs = ? WHERE kind = ? AND name = ?',
  remove: 'DELETE FROM budgets WHERE kind = ? AND name = ?',
  charge: 'UPDATE budgets SET cost = cost + ? WHERE kind = ? AND name = ?',
  count: `UPDATE budgets SET cost = iif(kind = 'group', (${COST.group}), (${COST.project}))`,
};

/**
 * The budgets of groups and projects. The jobs are authoritative: their cost is summed when the store opens and when a budget is added, and
 * updated in the transaction that holds or settles the credits of a job, so that takes the same time for any number of jobs.
 */
export class BudgetTable {
  readonly #sql: Statements<typeof SQL>;

  /** Expects all columns of jobs. */
  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
    this.#sql.count.run();
  }

  find(kind: BudgetKind, name: string): StoredBudget | undefined {
    const row = this.#sql.get.get(kind, name);
    return row && toBudget(row);
  }

  /** @throws AppError `missing` if it does not exist. */
  get(kind: BudgetKind, name: string): StoredBudget {
    const found = this.find(kind, name);
    if (found === undefined) throw new AppError('missing', `The ${kind} "${name}" does not exist.`);
    return found;
  }

  list(kind: BudgetKind): readonly StoredBudget[] {
    return this.#sql.list.all(kind).map(toBudget);
  }

  /** Earlier jobs of that name count too. @throws AppError `conflict` if it exists. */
  add({ kind, name, createdAt, budget, runningJobs }: Omit<StoredBudget, 'cost'>): StoredBudget {
    const { changes } = this.#sql.insert.run(kind, name, createdAt, budget, runningJobs);
    if (changes === 0) throw new AppError('conflict', `The ${kind} "${name}" already exists.`);
    this.#sql.count.run();
    return this.get(kind, name);
  }

  /** A budget below the cost is possible: no job is accepted until it is raised. */
  edit(kind: BudgetKind, name: string, changes: BudgetChanges): StoredBudget {
    const { budget, runningJobs } = { ...this.get(kind, name), ...changes };
    this.#sql.edit.run(budget, runningJobs, kind, name);
    return this.get(kind, name);
  }

  remove(kind: BudgetKind, name: string): void {
    this.#sql.remove.run(this.get(kind, name).kind, name);
  }

  /** What can be spent under these budgets, if `spendable` can be spent without them. */
  within(spendable: Spendable, owner: BudgetOwner): Spendable {
    let least = spendable;
    for (const [kind, name] of named(owner)) {
      const { budget = null, cost = 0 } = this.find(kind, name) ?? {};
      if (budget === null || budget - cost >= least.amount) continue;
      least = { amount: Math.max(0, budget - cost), limit: kind, name };
    }
    return least;
  }

  /** Adds to the cost of the budgets, or subtracts. Expects the caller's transaction. */
  charge(owner: BudgetOwner, amount: number): void {
    for (const [kind, name] of named(owner)) this.#sql.charge.run(amount, kind, name);
  }
}

function named({ group = null, project = null }: BudgetOwner): readonly (readonly [BudgetKind, string])[] {
  return [
    ...(group === null ? [] : ([['group', group]] as const)),
    ...(project === null ? [] : ([['project', project]] as const)),
  ];
}
