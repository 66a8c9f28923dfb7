import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import type { BudgetOwner, BudgetTable, Spendable } from './budgetTable.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

/** Who spends: a key, in a group, for a project. */
export interface Spender extends BudgetOwner {
  readonly keyId?: string | null | undefined;
}

// A covering index for the sum, so that it reads no rows.
export const KEY_BUDGET_INDEX =
  'CREATE INDEX IF NOT EXISTS jobs_of_keys ON jobs (key_id, charged, hold) WHERE key_id IS NOT NULL';
const SQL = {
  left: `SELECT budget - (SELECT coalesce(sum(coalesce(charged, hold)), 0) FROM jobs WHERE key_id = api_keys.id) AS amount
    FROM api_keys WHERE id = ? AND budget IS NOT NULL`,
  overdrawn: `SELECT id, budget, cost FROM
    (SELECT key_id, sum(coalesce(charged, hold)) AS cost FROM jobs WHERE key_id IS NOT NULL GROUP BY key_id)
    JOIN api_keys ON key_id = id WHERE cost > budget`,
};

/**
 * What keys with a budget can still spend. It is calculated from the jobs that a key submitted, with their charges or, until they end,
 * their holds. So no second balance can differ from the ledger, and whatever ends a job returns the rest of its hold to the key too.
 */
export class KeyBudgets {
  readonly #sql: Statements<typeof SQL>;
  readonly #budgets: Pick<BudgetTable, 'within'>;

  /** Expects all columns of jobs and keys. */
  constructor(database: DatabaseSync, budgets: Pick<BudgetTable, 'within'>) {
    this.#budgets = budgets;
    this.#sql = prepareAll(database, SQL);
  }

  /** What a key can spend of the `available` micro-credits of its account, in its group and for jobs of a project. */
  spendable(available: number, { keyId = null, ...owner }: Spender): Spendable {
    const left = this.left(keyId);
    const spendable: Spendable =
      left !== undefined && left < available ? { amount: left, limit: 'key' } : { amount: available, limit: 'account' };
    return this.#budgets.within(spendable, owner);
  }

  /** Checks that no key has spent more than its budget. @throws AppError `corrupt` that names one that has. */
  check(): void {
    const row = this.#sql.overdrawn.get();
    if (row === undefined) return;
    const { id, budget, cost } = row;
    const message = `The jobs of key ${String(id)} cost ${String(cost)} micro-credits of a budget of ${String(budget)}. Restore the data folder from a backup.`;
    throw new AppError('corrupt', message);
  }

  /** Micro-credits, or undefined for a key without a budget. */
  left(keyId: string | null): number | undefined {
    const amount = this.#sql.left.get(keyId)?.['amount'];
    return amount === undefined ? undefined : Number(amount);
  }
}
