import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openAdmin } from './adminClient.ts';

/**
 * How many accounts of a data folder are enabled, according to the service that runs on it or, if none does, its store, which is
 * not upgraded. 0 without a store, or if the store is older than accounts.
 */
export async function countEnabledAccounts(data: string): Promise<number> {
  const path = join(data, 'service.db');
  if (!existsSync(path)) return 0;
  try {
    return countIn(path);
  } catch {
    // A service has locked it.
    using admin = await openAdmin(data, { mayCreate: false });
    const { accounts } = await admin.call('accounts.list', {});
    return accounts.filter(({ disabled_at: disabledAt }) => disabledAt === null).length;
  }
}

function countIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'accounts'").get();
    if (table === undefined) return 0;
    return Number(
      database.prepare('SELECT count(*) AS count FROM accounts WHERE disabled_at IS NULL').get()?.['count'],
    );
  } finally {
    database.close();
  }
}
