import * as vscode from 'vscode';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import { DisposableStore } from '../../../core/processes/lifetime.ts';
import type { Logger } from '../../../core/log.ts';
import type { DiskChange } from '../../../retrieval/server/folderIndex.ts';
import { pathInside } from '../../../core/files/pathInside.ts';
import { diskFolders } from '../../workspace/folders.ts';
import type { SearchIndex } from './searchIndex.ts';

// While the user types, a file is indexed a few times per second instead of with each key.
const TYPING_PAUSE_MS = 80;
// The index reads no more of a file, and copying more to the thread would be noticeable.
const MAX_OVERLAY_CHARACTERS = 1_000_000;
const GIT_FOLDER = /[\\/]\.git([\\/]|$)/;

/** Reports changes in the window's folders to the index: on disk, through VS Code (immediately), and in unsaved editors. */
export class FileWatcher implements Disposable {
  readonly #index: SearchIndex;
  readonly #log: Logger;
  readonly #disposables = new DisposableStore();
  readonly #typing = new Map<string, NodeJS.Timeout>();
  #changes: DiskChange[] = [];

  constructor(index: SearchIndex, log: Logger) {
    this.#index = index;
    this.#log = log;
    const { workspace } = vscode;
    const watcher = workspace.createFileSystemWatcher('**/*');
    const report = (type: 'created' | 'changed' | 'deleted') => (uri: vscode.Uri) => this.#report(type, uri);
    for (const item of [
      watcher,
      watcher.onDidCreate(report('created')),
      watcher.onDidChange(report('changed')),
      watcher.onDidDelete(report('deleted')),
      workspace.onDidCreateFiles(({ files }) => files.forEach(report('created'))),
      workspace.onDidDeleteFiles(({ files }) => files.forEach(report('deleted'))),
      workspace.onDidRenameFiles(({ files }) => {
        for (const { oldUri, newUri } of files) this.#reportRename(oldUri, newUri);
      }),
      workspace.onDidSaveTextDocument((document) => void this.#saved(document)),
      workspace.onDidChangeTextDocument(({ document }) => this.#typed(document)),
      workspace.onDidCloseTextDocument((document) => this.#setOverlay(document, undefined)),
    ]) {
      this.#disposables.add(item);
    }
    for (const document of workspace.textDocuments) if (document.isDirty) this.#typed(document);
  }

  dispose(): void {
    for (const timer of this.#typing.values()) clearTimeout(timer);
    this.#disposables.dispose();
  }

  #report(type: 'created' | 'changed' | 'deleted', uri: vscode.Uri): void {
    if (isIndexed(uri)) this.#add({ type, path: uri.fsPath });
  }

  #reportRename(from: vscode.Uri, to: vscode.Uri): void {
    if (isIndexed(from) && isIndexed(to)) this.#add({ type: 'renamed', path: to.fsPath, from: from.fsPath });
    else {
      this.#report('deleted', from);
      this.#report('created', to);
    }
  }

  /** Changes of one turn of the event loop are sent together, since checking out a branch changes thousands of files. */
  #add(change: DiskChange): void {
    this.#changes.push(change);
    if (this.#changes.length === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const changes = this.#changes;
    this.#changes = [];
    this.#try('notify', this.#index.notify(changes));
  }

  #typed(document: vscode.TextDocument): void {
    if (!isIndexed(document.uri)) return;
    const path = document.uri.fsPath;
    clearTimeout(this.#typing.get(path));
    if (!document.isDirty) {
      this.#setOverlay(document, undefined);
      return;
    }
    this.#typing.set(
      path,
      setTimeout(() => {
        this.#typing.delete(path);
        const text = document.isClosed || !document.isDirty ? undefined : document.getText();
        this.#setOverlay(document, text !== undefined && text.length <= MAX_OVERLAY_CHARACTERS ? text : undefined);
      }, TYPING_PAUSE_MS),
    );
  }

  /** The text on screen is dropped only once the saved file is indexed, so that the file can be found at any time. */
  async #saved(document: vscode.TextDocument): Promise<void> {
    if (!isIndexed(document.uri)) return;
    this.#report('changed', document.uri);
    this.#send();
    if (!this.#index.isStarted) return;
    try {
      await this.#index.call((server) => server.settle());
    } catch (error) {
      this.#log.warn('the index did not settle', { error });
    }
    if (!document.isDirty) this.#setOverlay(document, undefined);
  }

  #setOverlay(document: vscode.TextDocument, text: string | undefined): void {
    const path = document.uri.fsPath;
    if (text === undefined) {
      clearTimeout(this.#typing.get(path));
      this.#typing.delete(path);
    }
    if (document.uri.scheme === 'file') this.#try('overlay', this.#index.setUnsavedText(path, text));
  }

  /** A failure here loses nothing: the index restarts and reads the folder again. */
  #try(name: string, work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.warn('a change was not sent to the index', { name, error }));
  }
}

/** Whether a file may be indexed. Git's own files change often and never are. */
function isIndexed({ scheme, fsPath }: vscode.Uri): boolean {
  if (scheme !== 'file' || GIT_FOLDER.test(fsPath)) return false;
  return diskFolders().some(({ uri }) => pathInside(uri.fsPath, fsPath) !== undefined);
}
