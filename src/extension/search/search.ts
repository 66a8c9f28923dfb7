import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { type Disposable, DisposableStore, Emitter } from '../../core/processes/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { WatchedFolder } from '../../retrieval/server/folderIndex.ts';
import { onDidChangeSetting, readSetting } from '../contributions/config.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import { diskFolders } from '../workspace/folders.ts';
import type { Keys } from '../account/keys.ts';
import { Answers } from './answers.ts';
import { FileWatcher } from './index/fileWatcher.ts';
import { type IndexNode, IndexTree } from './index/indexTree.ts';
import { RecentSearches } from './index/recentSearches.ts';
import { SearchIndex } from './index/searchIndex.ts';
import { indexSummary } from './index/indexText.ts';
import { withoutIcons } from '../ui/labels.ts';
import { type PowerSource, readPowerSource } from '../../core/processes/powerSource.ts';
import { repeat } from '../../core/processes/repeat.ts';

const PAUSED_KEY = 'index paused';

// Reading the power source starts a program on some systems, and a minute is soon enough to notice an unplugged charger.
const CHECK_EVERY_MS = 60_000;

export interface SearchDeps extends Pick<WindowParts, 'context' | 'contexts' | 'home' | 'log' | 'report' | 'signal'> {
  readonly indexView: vscode.TreeView<IndexNode>;
  readonly indexChanged: vscode.EventEmitter<IndexNode | undefined>;
  /** Keys of language models. */
  readonly modelKeys: Keys;
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
    const disposables = this.#disposables;
    this.recent = disposables.add(new RecentSearches(context.workspaceState));
    this.index = disposables.add(
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
    disposables.add(this.index.onDidChange(showPaused));
    this.tree = disposables.add(new IndexTree(this.index, this.recent, indexChanged));
    disposables.add(this.#asked);
    disposables.add(this.#toggled);
    this.answers = disposables.add(new Answers({ contexts, log }));
    disposables.add(new FileWatcher(this.index, log));
    disposables.add(showIndexStatus(this.index));
    const update = (): void => void this.index.updateFolders().catch(report);
    disposables.add(vscode.workspace.onDidChangeWorkspaceFolders(update));
    disposables.add(vscode.workspace.onDidGrantWorkspaceTrust(update));
    disposables.add(onDidChangeSetting('index.enabled', update));
    disposables.add(onDidChangeSetting('index.history', update));
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
export function foldersToIndex(): readonly WatchedFolder[] {
  const { isTrusted } = vscode.workspace;
  return diskFolders()
    .filter(({ uri }) => readSetting('index.enabled', uri))
    .map(({ uri }) => ({ path: uri.fsPath, isTrusted, usesHistory: readSetting('index.history', uri) }));
}

/** The index in the language status of a file: the number of indexed files and its state. It never interrupts. */
function showIndexStatus(index: SearchIndex): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('farwharf.index', { scheme: 'file' });
  item.name = 'Farwharf Index';
  item.command = { command: 'farwharf.index.focus', title: l10n.t('Show') };
  const update = (): void => {
    const { status, isPaused } = index;
    item.busy = !isPaused && status.some(({ state }) => state === 'building');
    item.text = status.length === 0 ? l10n.t('not started') : withoutIcons(indexSummary(status, isPaused));
    item.detail = l10n.t('Search index');
    item.severity = status.some((folder) => folder.state === 'error')
      ? vscode.LanguageStatusSeverity.Warning
      : vscode.LanguageStatusSeverity.Information;
  };
  const disposables = new DisposableStore();
  disposables.add(item);
  disposables.add(index.onDidChange(update));
  update();
  return disposables;
}

/** Postpones large indexing work while this machine runs on battery, until the signal aborts. */
function saveBattery(index: SearchIndex, signal: AbortSignal): Promise<void> {
  let reported: PowerSource = 'mains';
  const check = async (): Promise<void> => {
    const source = await readPowerSource();
    // Only changes are reported, so that work which a person resumed on battery continues.
    if (source !== reported) await index.setSavingEnergy(source === 'battery');
    reported = source;
  };
  return repeat(check, CHECK_EVERY_MS, signal);
}
