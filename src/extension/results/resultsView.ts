import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { isAbort } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { formatBytes, plural } from '../../core/text/format.ts';
import { joinPrintable, printable } from '../../core/text/printable.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import { RESULTS_VIEW } from '../contributions/names.ts';
import type { JobFileSystem } from '../jobs/jobFileSystem.ts';
import { explain } from '../ui/errorText.ts';
import { label, messageText, withoutIcons } from '../ui/labels.ts';
import { openCommand, treeRow } from '../ui/show.ts';
import type { ShownFile, ShownFiles, ShownFolder } from './shownFiles.ts';

// A folder that takes long to list is listed less often, so that it takes at most a tenth of the time.
const PAUSES_PER_REFRESH = 10;

type ResultNode = ShownFile | { readonly more: number };

interface ResultsViewDeps {
  readonly documents: JobFileSystem;
  readonly contexts: ContextKeys;
  readonly log: Logger;
}

/** The tree of a job's files: its results, or what is in its folder while it runs. It is shown on request only. */
export class ResultsView implements vscode.TreeDataProvider<ResultNode>, vscode.Disposable {
  readonly #deps: ResultsViewDeps;
  readonly #changed = new vscode.EventEmitter<ResultNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** By path: the row of each folder and file, and what was read of each folder. */
  readonly #rows = new Map<string, ShownFile>();
  readonly #folders = new Map<string, ShownFolder>();
  /** What has just been read of folders that VS Code will ask for. */
  readonly #fresh = new Map<string, ShownFolder>();
  readonly #expanded = new Set<string>();
  readonly #shown = new WeakSet<object>();
  #files: ShownFiles | undefined;
  #tree: vscode.TreeView<ResultNode> | undefined;
  #closing = new AbortController();

  constructor(deps: ResultsViewDeps) {
    this.#deps = deps;
  }

  /** The files that are shown. */
  get files(): ShownFiles | undefined {
    return this.#files;
  }

  /** Shows files of a job in place of those of another one, and disposes them when it no longer does. */
  async show(files: ShownFiles): Promise<void> {
    this.close();
    this.#files = files;
    this.#closing = new AbortController();
    this.#deps.contexts.set('browsingResults', true);
    this.#tree = vscode.window.createTreeView<ResultNode>(RESULTS_VIEW, {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: true,
    });
    this.#tree.title = messageText(files.title);
    this.#tree.description = withoutIcons(files.record.script);
    this.#tree.message = messageText(files.message);
    this.#tree.onDidExpandElement(({ element }) => 'path' in element && this.#expanded.add(element.path));
    this.#tree.onDidCollapseElement(({ element }) => 'path' in element && this.#expanded.delete(element.path));
    if (files.refreshMs !== undefined) void this.#keepFresh(files, files.refreshMs, this.#tree, this.#closing.signal);
    await vscode.commands.executeCommand(`${RESULTS_VIEW}.focus`);
    await this.#deps.documents.refresh(files.record.id); // editors may show what was there before
  }

  /** Hides the view. */
  close(): void {
    this.#closing.abort();
    this.#tree?.dispose();
    this.#files?.[Symbol.dispose]();
    this.#tree = undefined;
    this.#files = undefined;
    for (const known of [this.#rows, this.#folders, this.#fresh, this.#expanded]) known.clear();
    this.#deps.contexts.set('browsingResults', false);
  }

  /** The paths of the row that a command was called on, and of the others selected with it; none for anything else. */
  pathsOf(argument: unknown): readonly string[] {
    if (!this.#isShown(argument)) return [];
    const selected = this.#tree?.selection ?? [];
    const nodes: readonly ResultNode[] = selected.includes(argument) ? selected : [argument];
    return nodes.flatMap((node) => ('path' in node ? [node.path] : []));
  }

  async getChildren(node?: ResultNode): Promise<ResultNode[]> {
    if (this.#files === undefined || (node !== undefined && !('path' in node))) return [];
    const folder = node?.path ?? '';
    // Until this returns, VS Code does not know the rows that it shows, and their buttons do nothing.
    const { children, more } = this.#fresh.get(folder) ?? (await this.#files.level(folder));
    this.#fresh.delete(folder);
    this.#folders.set(folder, { children, more });
    // A row stays the same object while nothing about it changes, which is how VS Code recognizes it.
    for (const child of children) if (!isSame(this.#rows.get(child.path), child)) this.#rows.set(child.path, child);
    const rows = children.map((child) => this.#rows.get(child.path) ?? child);
    for (const row of rows) this.#shown.add(row);
    return more === 0 ? rows : [...rows, { more }];
  }

  getTreeItem(node: ResultNode): vscode.TreeItem {
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    if (!('path' in node))
      return treeRow(label`${plural(node.more, l10n.t('1 more entry'), l10n.t('{0} more entries'))}`);
    const { name, path, isFolder, files, bytes } = node;
    const item = treeRow(withoutIcons(name), isFolder ? Collapsed : None);
    const description = !isFolder
      ? label`${formatBytes(bytes)}`
      : files === undefined
        ? label``
        : label`${plural(files, l10n.t('1 file'), l10n.t('{0} files'))}, ${formatBytes(bytes)}`;
    item.id = path;
    item.description = description;
    const parts = [withoutIcons(name), ...(description === '' ? [] : [printable`, `, description])];
    item.accessibilityInformation = { label: joinPrintable(parts) };
    item.iconPath = isFolder ? vscode.ThemeIcon.Folder : vscode.ThemeIcon.File;
    item.contextValue = isFolder ? 'result.folder' : 'result.file';
    if (this.#files === undefined) return item;
    const uri = this.#deps.documents.uriOf(this.#files.record, path);
    item.resourceUri = uri;
    if (!isFolder) item.command = openCommand(uri);
    return item;
  }

  dispose(): void {
    this.close();
    this.#changed.dispose();
  }

  /** Reads the folders and files on screen again, until the signal aborts. */
  async #keepFresh(
    files: ShownFiles,
    everyMs: number,
    tree: vscode.TreeView<ResultNode>,
    signal: AbortSignal,
  ): Promise<void> {
    let pauseMs = everyMs;
    while (!signal.aborted) {
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      const started = performance.now();
      try {
        if (tree.visible) for (const folder of this.#shownFolders()) await this.#refresh(files, folder, signal);
        if (!signal.aborted) await this.#deps.documents.refresh(files.record.id);
        if (!signal.aborted) tree.message = messageText(files.message);
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.log.warn('the files of a running job could not be read', { id: files.record.id, error });
        tree.message = isAbort(error) ? messageText(files.message) : messageText(explain(error).sentence);
      }
      pauseMs = Math.max(everyMs, PAUSES_PER_REFRESH * (performance.now() - started));
    }
  }

  async #refresh(files: ShownFiles, folder: string, signal: AbortSignal): Promise<void> {
    const before = this.#folders.get(folder);
    const row = this.#rows.get(folder);
    const read = await files.level(folder);
    const { children, more } = read;
    if (signal.aborted || (row === undefined && folder !== '')) return;
    const isUnchanged =
      before?.more === more &&
      before.children.length === children.length &&
      children.every((child, index) => isSame(before.children[index], child));
    if (isUnchanged) return;
    this.#fresh.set(folder, read);
    this.#changed.fire(row);
  }

  /** Those whose entries are on screen. */
  #shownFolders(): readonly string[] {
    const isOpen = (folder: string): boolean =>
      folder === '' || (this.#expanded.has(folder) && isOpen(folder.slice(0, Math.max(0, folder.lastIndexOf('/')))));
    return [...this.#folders.keys()].filter(isOpen);
  }

  #isShown(value: unknown): value is ShownFile {
    return typeof value === 'object' && value !== null && this.#shown.has(value);
  }
}

function isSame(one: ShownFile | undefined, other: ShownFile): boolean {
  return one?.isFolder === other.isFolder && one.files === other.files && one.bytes === other.bytes;
}
