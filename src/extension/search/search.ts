import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore, Emitter } from '../../core/processes/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { OpenFolder } from '../../retrieval/server/folderIndex.ts';
import { onDidChangeSetting, readSetting } from '../contributions/config.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import { diskFolders } from '../workspace/folders.ts';
import type { Keys } from '../account/keys.ts';
import { Answers } from './answers/answers.ts';
import { saveBattery } from './index/batterySaver.ts';
import { FileWatcher } from './index/fileWatcher.ts';
import { showIndexStatus } from './index/indexStatusItem.ts';
import { type IndexNode, IndexTree } from './index/indexTree.ts';
import { RecentSearches } from './index/recentSearches.ts';
import { SearchIndex } from './index/searchIndex.ts';

const PAUSED_KEY = 'index paused';

export interface SearchDeps {
  readonly context: vscode.ExtensionContext;
  readonly indexView: vscode.TreeView<IndexNode>;
  readonly indexChanged: vscode.EventEmitter<IndexNode | undefined>;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly contexts: ContextKeys;
  /** Keys of language models. */
  readonly modelKeys: Keys;
  readonly log: Logger;
  /** Aborts when the window closes. */
  readonly signal: AbortSignal;
  /** Reports a failure to the user, once. */
  readonly report: (error: unknown) => void;
}

/** Search in the window's folders: the index, its view, and what the commands need. */
export class Search implements Disposable {
  /** FARWHARF_HOME. */
  readonly home: string;
  /** Path of the program for the thread of an embedding model. */
  readonly modelProgram: string;
  readonly index: SearchIndex;
  readonly tree: IndexTree;
  readonly recent: RecentSearches;
  readonly answers: Answers;
  readonly modelKeys: Keys;
  readonly contexts: ContextKeys;
  readonly log: Logger;
  readonly report: (error: unknown) => void;
  readonly #memory: vscode.Memento;
  readonly #asked = new Emitter<void>();
  readonly #toggled = new Emitter<void>();
  readonly #disposables = new DisposableStore();
  /** Fired to list the other places of the active result's file, or to remove them. */
  readonly onToggleOtherPlaces = this.#toggled.event;
  /** Fired to ask a model about the results in the open list. */
  readonly onAskAboutResults = this.#asked.event;

  constructor({ context, indexView, indexChanged, home, contexts, modelKeys, log, signal, report }: SearchDeps) {
    this.home = home;
    this.modelProgram = context.asAbsolutePath(join('dist', 'modelWorker.mjs'));
    this.contexts = contexts;
    this.modelKeys = modelKeys;
    this.log = log;
    this.report = report;
    this.#memory = context.workspaceState;
    const own = this.#disposables;
    this.recent = own.add(new RecentSearches(context.workspaceState));
    this.index = own.add(
      new SearchIndex({
        program: context.asAbsolutePath(join('dist', 'folderIndexWorker.mjs')),
        workerProgram: context.asAbsolutePath(join('dist', 'indexWorker.mjs')),
        modelProgram: this.modelProgram,
        home,
        folders: foldersToIndex,
        isPaused: this.#memory.get<boolean>(PAUSED_KEY) ?? false,
        log,
      }),
    );
    const showPaused = (): void => contexts.set('indexPaused', this.index.isHeldUp);
    showPaused();
    own.add(this.index.onDidChange(showPaused));
    this.tree = own.add(new IndexTree(this.index, this.recent, indexChanged));
    own.add(this.#asked);
    own.add(this.#toggled);
    this.answers = own.add(new Answers({ contexts, log }));
    own.add(new FileWatcher(this.index, log));
    own.add(showIndexStatus(this.index));
    const update = (): void => void this.index.updateFolders().catch(report);
    own.add(vscode.workspace.onDidChangeWorkspaceFolders(update));
    own.add(vscode.workspace.onDidGrantWorkspaceTrust(update));
    own.add(onDidChangeSetting('index.enabled', update));
    own.add(onDidChangeSetting('index.history', update));
    saveBattery(this.index, signal).catch(report);
    this.tree.keepTime(indexView, indexChanged, signal).catch(report);
  }

  /** Starts the index in the background: a failure is only logged, and reported when the user searches. */
  async startQuietly(): Promise<void> {
    try {
      await this.index.start();
    } catch (error) {
      this.log.warn('the index could not be started', { error });
    }
  }

  /** Pauses or resumes indexing, also after the window is reloaded. */
  async setPaused(isPaused: boolean): Promise<void> {
    await this.#memory.update(PAUSED_KEY, isPaused);
    await this.index.setPaused(isPaused);
  }

  toggleOtherPlaces(): void {
    this.#toggled.fire();
  }

  askAboutResults(): void {
    this.#asked.fire();
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/** The folders on a local disk with indexing enabled. Git runs only in trusted ones, because a folder's git configuration can run programs. */
export function foldersToIndex(): readonly OpenFolder[] {
  const { isTrusted } = vscode.workspace;
  return diskFolders()
    .filter(({ uri }) => readSetting('index.enabled', uri))
    .map(({ uri }) => ({ path: uri.fsPath, isTrusted, usesHistory: readSetting('index.history', uri) }));
}
