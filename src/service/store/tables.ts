import type { DatabaseSync } from 'node:sqlite';
import { ACCOUNT_COLUMNS } from './accounts/accounts.ts';
import { KEY_COLUMNS } from './accounts/apiKeys.ts';
import { BUDGET_TABLE } from './accounts/budgets.ts';
import { IDENTITY_TABLE } from './accounts/identities.ts';
import { KEY_BUDGET_INDEX } from './accounts/keyBudgets.ts';
import { SECRET_COLUMNS, SECRET_TABLE } from './accounts/secrets.ts';
import { AUDIT_TABLE } from './audit/auditTable.ts';
import { addMissingColumns } from './database/statements.ts';
import { RESERVE_TABLE } from './database/storeReserve.ts';
import { DRAIN_TABLE } from './jobs/drainRecord.ts';
import { JOB_COLUMNS } from './jobs/jobs.ts';
import { RETENTION_TABLE } from './jobs/retentionRecord.ts';

/** Adds what a store lacks: tables and nullable columns, which need no migration. Changes nothing in a store that has them. */
export function declareTables(database: DatabaseSync): void {
  addMissingColumns(database, 'jobs', JOB_COLUMNS);
  addMissingColumns(database, 'accounts', ACCOUNT_COLUMNS);
  addMissingColumns(database, 'api_keys', KEY_COLUMNS);
  // Indexes of jobs follow the columns of jobs.
  const tables = [
    AUDIT_TABLE,
    BUDGET_TABLE,
    DRAIN_TABLE,
    IDENTITY_TABLE,
    KEY_BUDGET_INDEX,
    RESERVE_TABLE,
    RETENTION_TABLE,
    SECRET_TABLE,
  ];
  for (const sql of tables) database.exec(sql);
  addMissingColumns(database, 'secrets', SECRET_COLUMNS);
}
