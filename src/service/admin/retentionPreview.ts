import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RetentionSettings } from '../config/sections.ts';
import { filesFolderOf } from '../folders/filesFolder.ts';
import { JobFiles } from '../jobFiles/jobFiles.ts';
import { ExpiryTable } from '../store/jobs/expiry.ts';
import { RetentionRecord } from '../store/jobs/retentionRecord.ts';
import { openAdmin } from './adminClient.ts';
import { previewRetention, type RetentionPreview } from './operations/retentionOperations.ts';

/**
 * Previews what a start with these settings would delete, according to the service that runs on a data folder or, if none does, its
 * store, which is not upgraded.
 *
 * @returns undefined without a store, or if it is older than retention.
 * @throws AppError of `filesFolderOf` and `openAdmin`.
 */
export async function retentionPreviewOf(
  data: string,
  settings: RetentionSettings,
): Promise<RetentionPreview | undefined> {
  const path = join(data, 'service.db');
  if (!existsSync(path)) return undefined;
  const database = openUnlocked(path);
  if (database === undefined) {
    using admin = await openAdmin(data, { mayCreate: false });
    return await admin.call('disk.retention', { settings });
  }
  try {
    const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?");
    if (table.get('accounts') === undefined) return undefined;
    const retention = table.get('retention') === undefined ? { get: () => undefined } : new RetentionRecord(database);
    const files = new JobFiles(filesFolderOf(data));
    return await previewRetention({ expiry: new ExpiryTable(database), retention, files }, settings);
  } finally {
    database.close();
  }
}

/** Opens a store to read it; undefined if a service has locked it. */
function openUnlocked(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch {
    database.close();
    return undefined;
  }
}
