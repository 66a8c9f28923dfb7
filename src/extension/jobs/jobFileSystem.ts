import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import { isRecordId, type JobRecord } from '../../jobs/ledger/record.ts';

interface FoundFile {
  readonly isFolder: boolean;
  readonly size: number;
  /** Milliseconds since 1970; 0 by default, for files that never change. */
  readonly modified?: number;
}

/** Files of jobs. `id` is our own ID of a job, paths are relative to its folder with `/`; `''` is the folder. */
export interface JobFileSource {
  /** Undefined if there is no such file or folder. */
  find(id: string, path: string): Promise<FoundFile | undefined>;
  children(id: string, path: string): Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
  /** Undefined if there is no such file. */
  read(id: string, path: string): Promise<Uint8Array | undefined>;
}

/**
 * Read-only files of jobs: `scheme://ID/path`, with our own ID of the job and the absolute path that the file has, or would have, in the
 * folder that was submitted. In a comparison, a file with another path would look renamed. Any extension can open such an address, and
 * finds only what the source has for a job in the list.
 */
export class JobFileSystem implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #scheme: string;
  readonly #source: JobFileSource;
  readonly #ledger: Pick<AsyncLedger, 'get'>;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #registration: vscode.Disposable;
  /** When the files that were opened were last written, and their sizes. */
  readonly #seen = new Map<string, string>();
  readonly onDidChangeFile = this.#changed.event;

  constructor(scheme: string, source: JobFileSource, ledger: Pick<AsyncLedger, 'get'>) {
    this.#scheme = scheme;
    this.#source = source;
    this.#ledger = ledger;
    const options = { isCaseSensitive: true, isReadonly: true };
    this.#registration = vscode.workspace.registerFileSystemProvider(scheme, this, options);
  }

  /** The address of a file; `''` is the folder. */
  uriOf({ id, folder }: Pick<JobRecord, 'id' | 'folder'>, path: string): vscode.Uri {
    return vscode.Uri.file(join(folder, path)).with({ scheme: this.#scheme, authority: id });
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { id, path } = await this.#locate(uri);
    const found = await this.#source.find(id, path);
    if (found === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    const { modified = 0, size } = found;
    this.#seen.set(uri.toString(), `${modified} ${size}`);
    return { ctime: 0, mtime: modified, type: typeOf(found), size };
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    const { id, path } = await this.#locate(uri);
    const children = await this.#source.children(id, path);
    return children.map((child) => [child.name, typeOf(child)]);
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { id, path } = await this.#locate(uri);
    const content = await this.#source.read(id, path);
    if (content === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return content;
  }

  /** Looks again at the files of a job that editors on screen show, and has those read again that have changed. */
  async refresh(id: string): Promise<void> {
    const shown = vscode.window.visibleTextEditors.map(({ document }) => document.uri);
    for (const uri of shown) {
      if (uri.scheme !== this.#scheme || uri.authority !== id) continue;
      const before = this.#seen.get(uri.toString());
      await this.stat(uri).catch(() => {}); // it may be gone for a moment, while the job writes another one
      if (before !== this.#seen.get(uri.toString())) this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    }
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {}); // `refresh` looks at those on screen
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

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }

  /** The job, and the path in its folder. @throws FileSystemError for an address that names neither. */
  async #locate(uri: vscode.Uri): Promise<{ readonly id: string; readonly path: string }> {
    // Any other text could lead to another folder.
    const record = isRecordId(uri.authority) ? await this.#ledger.get(uri.authority) : undefined;
    const path = record === undefined ? undefined : pathInside(record.folder, vscode.Uri.file(uri.path).fsPath);
    if (record === undefined || path === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return { id: record.id, path };
  }
}

function typeOf({ isFolder }: { readonly isFolder: boolean }): vscode.FileType {
  return isFolder ? vscode.FileType.Directory : vscode.FileType.File;
}

function readOnly(): AppError {
  return new AppError('refused', l10n.t('The files of a job cannot be changed here.'));
}
