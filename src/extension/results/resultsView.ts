import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatBytes, plural } from '../../core/text/format.ts';
import { joinPrintable, printable } from '../../core/text/printable.ts';
import type { ResultSummary } from '../../jobs/results/browsedResults.ts';
import type { ResultChild } from '../../jobs/results/resultIndex.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import { RESULTS_VIEW } from '../contributions/names.ts';
import type { JobFileSystem } from '../jobs/jobFileSystem.ts';
import { label, messageText, withoutIcons } from '../ui/labels.ts';
import { openCommand, treeRow } from '../ui/show.ts';
import type { Worker } from '../threads/worker.ts';

type ResultNode = ResultChild | { readonly more: number };

interface ResultsViewDeps {
  readonly browsed: Pick<Worker['browsed'], 'level'>;
  readonly documents: JobFileSystem;
  readonly contexts: ContextKeys;
}

/** The tree of a job's results, which are read from the cache. It is shown on request only. */
export class ResultsView implements vscode.TreeDataProvider<ResultNode>, vscode.Disposable {
  readonly #deps: ResultsViewDeps;
  readonly #shown = new WeakSet<object>();
  #record: JobRecord | undefined;
  #tree: vscode.TreeView<ResultNode> | undefined;

  constructor(deps: ResultsViewDeps) {
    this.#deps = deps;
  }

  /** The job whose results are shown. */
  get record(): JobRecord | undefined {
    return this.#record;
  }

  /** Shows the results of a job that are in the cache, in place of those of another one. */
  async show(record: JobRecord, { files, bytes }: ResultSummary): Promise<void> {
    this.close();
    this.#record = record;
    this.#deps.contexts.set('browsingResults', true);
    this.#tree = vscode.window.createTreeView<ResultNode>(RESULTS_VIEW, {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: true,
    });
    this.#tree.description = withoutIcons(record.script);
    this.#tree.message = messageText(
      files === 0
        ? l10n.t('This job made no files.')
        : l10n.t(
            '{0}, {1}. Save to Folder copies them into your folder.',
            plural(files, l10n.t('1 file'), l10n.t('{0} files')),
            formatBytes(bytes),
          ),
    );
    await vscode.commands.executeCommand(`${RESULTS_VIEW}.focus`);
  }

  /** Hides the view. */
  close(): void {
    this.#tree?.dispose();
    this.#tree = undefined;
    this.#record = undefined;
    this.#deps.contexts.set('browsingResults', false);
  }

  /** The paths that a command is about: its row and the others selected with it; everything if there is none. Other extensions may pass anything. */
  pathsOf(argument: unknown): readonly string[] {
    if (!this.#isShown(argument)) return [''];
    const selected = this.#tree?.selection ?? [];
    const nodes: readonly ResultNode[] = selected.includes(argument) ? selected : [argument];
    return nodes.flatMap((node) => ('path' in node ? [node.path] : []));
  }

  async getChildren(node?: ResultNode): Promise<ResultNode[]> {
    if (this.#record === undefined || (node !== undefined && !('path' in node))) return [];
    const { children, more } = await this.#deps.browsed.level(this.#record.id, node?.path ?? '');
    for (const child of children) this.#shown.add(child);
    return more === 0 ? [...children] : [...children, { more }];
  }

  getTreeItem(node: ResultNode): vscode.TreeItem {
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    if (!('path' in node))
      return treeRow(label`${plural(node.more, l10n.t('1 more entry'), l10n.t('{0} more entries'))}`);
    const { name, path, isFolder, files, bytes } = node;
    const item = treeRow(withoutIcons(name), isFolder ? Collapsed : None);
    const description = isFolder
      ? label`${plural(files, l10n.t('1 file'), l10n.t('{0} files'))}, ${formatBytes(bytes)}`
      : label`${formatBytes(bytes)}`;
    item.id = path;
    item.description = description;
    item.accessibilityInformation = { label: joinPrintable([withoutIcons(name), printable`, `, description]) };
    item.iconPath = isFolder ? vscode.ThemeIcon.Folder : vscode.ThemeIcon.File;
    item.contextValue = isFolder ? 'result.folder' : 'result.file';
    if (this.#record === undefined) return item;
    const uri = this.#deps.documents.uriOf(this.#record, path);
    item.resourceUri = uri;
    if (!isFolder) item.command = openCommand(uri);
    return item;
  }

  dispose(): void {
    this.#tree?.dispose();
  }

  #isShown(value: unknown): value is ResultChild {
    return typeof value === 'object' && value !== null && this.#shown.has(value);
  }
}
