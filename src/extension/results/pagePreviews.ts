import * as vscode from 'vscode';
import { isAbort } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { browseResults } from '../../jobs/browsing/browse.ts';
import type { ResultPreview } from '../../jobs/browsing/previews.ts';
import type { SeriesData } from '../../jobs/metrics/series.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Browsed } from './resultDocuments.ts';

// Results of this size are downloaded without being asked for.
const MOST_FETCHED_BYTES = 20_000_000;

interface PreviewDeps {
  readonly browsed: Browsed;
  readonly hosts: Pick<Hosts, 'service'>;
  readonly home: string;
  readonly log: Logger;
}

/** What a job's page shows of the contents of its results. */
export interface ShownContents {
  /** Pictures and the heads of tables. */
  readonly previews: readonly ResultPreview[];
  /** The metrics in files. */
  readonly metrics: ReadonlyMap<string, SeriesData>;
}

const NOTHING: ShownContents = { previews: [], metrics: new Map() };

/**
 * What a job's page shows of the contents of its results. Results that are not in the cache are downloaded if their events say that they
 * are small, and the folder is trusted.
 *
 * @param resultBytes the size of all results; 0 if it is unknown.
 */
export async function pagePreviews(
  { browsed, hosts, home, log }: PreviewDeps,
  record: JobRecord,
  resultBytes: number,
  signal: AbortSignal,
): Promise<ShownContents> {
  try {
    if ((await browsed.summary(record.id)) === undefined) {
      const isSmall = resultBytes > 0 && resultBytes <= MOST_FETCHED_BYTES;
      if (!isOver(record) || !isSmall || !vscode.workspace.isTrusted) return NOTHING;
      await browseResults({ service: hosts.service(record.host), home, browsed }, record, { signal });
    }
    return { previews: await browsed.previews(record.id), metrics: await browsed.metrics(record.id) };
  } catch (error) {
    if (isAbort(error)) throw error;
    // The page is useful without them.
    log.warn('the results of a job cannot be previewed', { id: record.id, error });
    return NOTHING;
  }
}
