import type { RemoteService } from '../../core/rpc/rpcMessages.ts';
import type { BrowsedResults } from '../../jobs/browsing/browsedResults.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import { type JobFileSource, JobFileSystem } from '../jobs/jobFileSystem.ts';

export type Browsed = RemoteService<{ browsed: Omit<BrowsedResults, 'read'> }>['browsed'];

// VS Code itself asks before it opens a file of this size.
const MOST_OPENED_BYTES = 50_000_000;

/**
 * The results of a job that are in the cache: `farwharf-results://ID/path`. Nothing is downloaded for an address, which any extension can
 * open.
 */
export function resultDocuments(browsed: Browsed, ledger: Pick<AsyncLedger, 'get'>): JobFileSystem {
  const source: JobFileSource = {
    async find(id, path) {
      const found = await browsed.find(id, path);
      return found === 'folder' ? { isFolder: true, size: 0 } : found && { isFolder: false, size: found.size };
    },
    children: async (id, path) => (await browsed.level(id, path)).children,
    read: (id, path) => browsed.readAll(id, path, MOST_OPENED_BYTES),
  };
  return new JobFileSystem('farwharf-results', source, ledger);
}
