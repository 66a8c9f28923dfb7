import * as vscode from 'vscode';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import { DisposableStore } from '../../../core/processes/lifetime.ts';
import type { Logger } from '../../../core/log.ts';
import type { FileChange } from '../../../retrieval/folder/indexService.ts';
import { pathInside } from '../../../core/files/pathInside.ts';
import { diskFolders } from '../../workspace/folders.ts';
import type { SearchIndex } from './searchIndex.ts';

// While a person types, a file is read a few times a second and not with each key.
const TYPING_PAUSE_MS = 80;
// As much as is indexed of a file; copying more to the thread would be felt, and nothing would come of it.
const MAX_OVERLAY_CHARACTERS = 1_000_000;
const GIT_FOLDER = /[\\/]\.git([\\/]|$)/;

/** Tells the index what changes in the window's folders: on disk, by VS Code's own acts at once, and on screen. */
export class FileWatcher implements Disposable {
  readonly #index: SearchIndex;
  readonly #log: Logger;
  readonly #disposables = new DisposableStore();
  readonly #typing = new Map<string, NodeJS.Timeout>();
  #changes: FileChange[] = [];

  constructor(index: SearchIndex, log: Logger) {
    this.#index = index;
    this.#log = log;
    const { workspace } = vscode;
    const watcher = workspace.createFileSystemWatcher('**/*');
    const tell = (type: 'created' | 'changed' | 'deleted') => (uri: vscode.Uri) => this.#tell(type, uri);
    for (const item of [
      watcher,
      watcher.onDidCreate(tell('created')),
      watcher.onDidChange(tell('changed')),
      watcher.onDidDelete(tell('deleted')),
      workspace.onDidCreateFiles(({ files }) => files.forEach(tell('created'))),
      workspace.onDidDeleteFiles(({ files }) => files.forEach(tell('deleted'))),
      workspace.onDidRenameFiles(({ files }) => {
        for (const { oldUri, newUri } of files) this.#tellRename(oldUri, newUri);
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

  #tell(type: 'created' | 'changed' | 'deleted', uri: vscode.Uri): void {
    if (isIndexed(uri)) this.#add({ type, path: uri.fsPath });
  }

  #tellRename(from: vscode.Uri, to: vscode.Uri): void {
    if (isIndexed(from) && isIndexed(to)) this.#add({ type: 'renamed', path: to.fsPath, from: from.fsPath });
    else {
      this.#tell('deleted', from);
      this.#tell('created', to);
    }
  }

  /** What comes in one turn goes in one message: a checkout of another branch changes thousands of files. */
  #add(change: FileChange): void {
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

  /** The text on screen is dropped only when the same text on disk can be found, so that there is no moment without it. */
  async #saved(document: vscode.TextDocument): Promise<void> {
    if (!isIndexed(document.uri)) return;
    this.#tell('changed', document.uri);
    this.#send();
    if (!this.#index.isStarted) return;
    try {
      await this.#index.settle();
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
    if (document.uri.scheme === 'file') this.#try('overlay', this.#index.setOverlay(path, text));
  }

  /** Nothing is lost by a failure here: the index starts anew and reads the folder again. */
  #try(name: string, work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.warn('the index was not told', { name, error }));
  }
}

/** Whether a file may be one of the index. Git's own files change all the time and never are. */
function isIndexed({ scheme, fsPath }: vscode.Uri): boolean {
  if (scheme !== 'file' || GIT_FOLDER.test(fsPath)) return false;
  return diskFolders().some(({ uri }) => pathInside(uri.fsPath, fsPath) !== undefined);
}
