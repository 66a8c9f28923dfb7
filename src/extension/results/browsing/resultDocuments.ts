import type * as vscode from 'vscode';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { BrowsedResults } from '../../../jobs/browsing/browsedResults.ts';
import type { AsyncLedger } from '../../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { type JobFileSource, JobFileSystem } from '../../jobs/jobFileSystem.ts';

export type Browsed = RemoteService<{ browsed: Omit<BrowsedResults, 'read'> }>['browsed'];

// VS Code itself asks before it opens a file of this size.
const MOST_OPENED_BYTES = 50_000_000;

/**
 * The results of a job that are in the cache: `farwharf-results://ID/path`. Nothing is downloaded for an address, which any extension can
 * open.
 */
export class ResultDocuments implements JobFileSource, vscode.Disposable {
  readonly #browsed: Browsed;
  readonly #system: JobFileSystem;

  constructor(browsed: Browsed, ledger: Pick<AsyncLedger, 'get'>) {
    this.#browsed = browsed;
    this.#system = new JobFileSystem('farwharf-results', this, ledger);
  }

  /** The address of a result; `''` is the folder. */
  uriOf(record: Pick<JobRecord, 'id' | 'folder'>, path: string): vscode.Uri {
    return this.#system.uriOf(record, path);
  }

  async find(id: string, path: string): ReturnType<JobFileSource['find']> {
    const found = await this.#browsed.find(id, path);
    return found === 'folder' ? { isFolder: true, size: 0 } : found && { isFolder: false, size: found.size };
  }

  async children(id: string, path: string): ReturnType<JobFileSource['children']> {
    return (await this.#browsed.level(id, path)).children;
  }

  read(id: string, path: string): Promise<Uint8Array> {
    return this.#browsed.readAll(id, path, MOST_OPENED_BYTES);
  }

  dispose(): void {
    this.#system.dispose();
  }
}
