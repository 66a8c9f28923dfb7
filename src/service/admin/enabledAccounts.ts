import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openAdmin } from './adminClient.ts';

/**
 * How many accounts of a data folder are enabled: asked of the service that runs on it or, where none does, read from its store,
 * which is left as it is. 0 where there is none, and for a store from before there were accounts.
 */
export async function countEnabledAccounts(data: string): Promise<number> {
  const path = join(data, 'service.db');
  if (!existsSync(path)) return 0;
  try {
    return countIn(path);
  } catch {
    // A service holds it.
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
