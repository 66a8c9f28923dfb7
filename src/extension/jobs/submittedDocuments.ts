import { join } from 'node:path';
import * as vscode from 'vscode';
import { pathInside } from '../../core/files/pathInside.ts';
import { AppError } from '../../core/errors.ts';
import type { RemoteService } from '../../core/processes/workerRpc.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import { isRecordId, type JobRecord } from '../../jobs/ledger/record.ts';
import type { SubmittedFiles } from '../../jobs/submitted/submittedFiles.ts';

const SCHEME = 'farwharf-job';

/**
 * Read-only files as they were submitted with a job: `farwharf-job://ID/path`, with our own ID of the job and the absolute path of the
 * file in the folder that was submitted. In a comparison, a file with another path would look renamed. Any extension can open such an
 * address, and finds only what is in the archive of a job.
 */
export class SubmittedDocuments implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #files: RemoteService<{ submitted: SubmittedFiles }>['submitted'];
  readonly #ledger: Pick<AsyncLedger, 'get'>;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #registration: vscode.Disposable;
  readonly onDidChangeFile = this.#changed.event;
  /** Contents by address. An editor with many of them would otherwise read the archive for each. */
  #loaded: ReadonlyMap<string, Uint8Array> = new Map();

  constructor(files: RemoteService<{ submitted: SubmittedFiles }>['submitted'], ledger: Pick<AsyncLedger, 'get'>) {
    this.#files = files;
    this.#ledger = ledger;
    const options = { isCaseSensitive: true, isReadonly: true };
    this.#registration = vscode.workspace.registerFileSystemProvider(SCHEME, this, options);
  }

  /** The address of a submitted file; `''` is the folder. */
  uriOf({ id, folder }: Pick<JobRecord, 'id' | 'folder'>, path: string): vscode.Uri {
    return vscode.Uri.file(join(folder, path)).with({ scheme: SCHEME, authority: id });
  }

  /** Reads files that are about to be opened, in place of those of the last call. */
  async load(wanted: ReadonlyMap<JobRecord, readonly string[]>, signal: AbortSignal): Promise<void> {
    const loaded = new Map<string, Uint8Array>();
    for (const [record, paths] of wanted) {
      const found = await this.#files.read(record.id, paths, { signal });
      for (const [path, content] of found) loaded.set(this.uriOf(record, path).toString(), content);
    }
    this.#loaded = loaded;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const known = { ctime: 0, mtime: 0 };
    const isLoaded = this.#loaded.has(uri.toString());
    if (!isLoaded && (await this.readDirectory(uri)).length > 0)
      return { ...known, type: vscode.FileType.Directory, size: 0 };
    const content = await this.readFile(uri);
    return { ...known, type: vscode.FileType.File, size: content.length };
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    const { id, path } = await this.#locate(uri);
    const children = await this.#files.children(id, path);
    return children.map(({ name, isFolder }) => [name, isFolder ? vscode.FileType.Directory : vscode.FileType.File]);
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const loaded = this.#loaded.get(uri.toString());
    if (loaded !== undefined) return loaded;
    const { id, path } = await this.#locate(uri);
    const content = (await this.#files.read(id, [path])).get(path);
    if (content === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return content;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {}); // an archive never changes
  }

  createDirectory(): never {
    throw readOnly();
  }

  writeFile(): never {
    throw readOnly();
  }

  delete(): never {
    throw readOnly();
  }

  rename(): never {
    throw readOnly();
  }

  /** The job, and the path in its folder. @throws FileSystemError for an address that names neither. */
  async #locate(uri: vscode.Uri): Promise<{ readonly id: string; readonly path: string }> {
    // Any other text could lead to another folder.
    const record = isRecordId(uri.authority) ? await this.#ledger.get(uri.authority) : undefined;
    const path = record === undefined ? undefined : pathInside(record.folder, vscode.Uri.file(uri.path).fsPath);
    if (record === undefined || path === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return { id: record.id, path };
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

function readOnly(): AppError {
  return new AppError('refused', 'The files of a job that was submitted cannot be changed.');
}
