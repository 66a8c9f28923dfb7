import * as vscode from 'vscode';
import { isAbort } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import { browseResults } from '../../../jobs/browsing/browse.ts';
import type { ResultPreview } from '../../../jobs/browsing/previews.ts';
import { isOver, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { Hosts } from '../../connection/hosts.ts';
import type { Browsed } from './resultDocuments.ts';

// Results of this size are downloaded without being asked for.
const MOST_FETCHED_BYTES = 20_000_000;

interface PreviewDeps {
  readonly browsed: Browsed;
  readonly hosts: Pick<Hosts, 'service'>;
  readonly home: string;
  readonly log: Logger;
}

/**
 * Pictures and the heads of tables among a job's results. Results that are not in the cache are downloaded if their events say that they
 * are small, and the folder is trusted.
 *
 * @param resultBytes the size of all results; 0 if it is unknown.
 */
export async function pagePreviews(
  { browsed, hosts, home, log }: PreviewDeps,
  record: JobRecord,
  resultBytes: number,
  signal: AbortSignal,
): Promise<readonly ResultPreview[]> {
  try {
    if ((await browsed.summary(record.id)) === undefined) {
      const isSmall = resultBytes > 0 && resultBytes <= MOST_FETCHED_BYTES;
      if (!isOver(record) || !isSmall || !vscode.workspace.isTrusted) return [];
      await browseResults({ service: hosts.service(record.host), home, browsed }, record, { signal });
    }
    return await browsed.previews(record.id);
  } catch (error) {
    if (isAbort(error)) throw error;
    // The page is useful without them.
    log.warn('the results of a job cannot be previewed', { id: record.id, error });
    return [];
  }
}
