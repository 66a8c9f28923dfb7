import type * as vscode from 'vscode';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { Worker } from '../threads/worker.ts';
import { type JobFileSource, JobFileSystem } from './jobFileSystem.ts';

/** Files as they were submitted with a job: `farwharf-job://ID/path`. */
export class SubmittedDocuments implements JobFileSource, vscode.Disposable {
  readonly #files: Worker['submitted'];
  readonly #system: JobFileSystem;
  /** Contents by job and path. An editor with many of them would otherwise read the archive for each. */
  #loaded: ReadonlyMap<string, Uint8Array> = new Map();

  constructor(files: Worker['submitted'], ledger: Pick<AsyncLedger, 'get'>) {
    this.#files = files;
    this.#system = new JobFileSystem('farwharf-job', this, ledger);
  }

  /** The address of a submitted file; `''` is the folder. */
  uriOf(record: Pick<JobRecord, 'id' | 'folder'>, path: string): vscode.Uri {
    return this.#system.uriOf(record, path);
  }

  /** Reads files that are about to be opened, in place of those of the last call. */
  async load(wanted: ReadonlyMap<JobRecord, readonly string[]>, signal: AbortSignal): Promise<void> {
    const loaded = new Map<string, Uint8Array>();
    for (const [{ id }, paths] of wanted) {
      const found = await this.#files.read(id, paths, { signal });
      for (const [path, content] of found) loaded.set(keyOf(id, path), content);
    }
    this.#loaded = loaded;
  }

  async find(id: string, path: string): ReturnType<JobFileSource['find']> {
    const isLoaded = this.#loaded.has(keyOf(id, path));
    if (!isLoaded && (await this.children(id, path)).length > 0) return { isFolder: true, size: 0 };
    const content = await this.read(id, path);
    return content && { isFolder: false, size: content.length };
  }

  children(id: string, path: string): ReturnType<JobFileSource['children']> {
    return this.#files.children(id, path);
  }

  async read(id: string, path: string): Promise<Uint8Array | undefined> {
    return this.#loaded.get(keyOf(id, path)) ?? (await this.#files.read(id, [path])).get(path);
  }

  dispose(): void {
    this.#system.dispose();
  }
}

function keyOf(id: string, path: string): string {
  return `${id} ${path}`;
}
