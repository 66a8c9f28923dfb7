import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { assertNever } from '../../../core/errors.ts';
import { formatInteger } from '../../../core/text/format.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import { repeat } from '../../../core/processes/repeat.ts';
import { printableLine, printableText } from '../../../core/text/printable.ts';
import type { FolderStatus } from '../../../retrieval/server/folderIndex.ts';
import type { SkippedPath } from '../../../retrieval/server/indexUpdater.ts';
import { byReason, folderLines, type IndexLine, reasonText, ruleText } from './indexText.ts';
import type { RecentSearches } from './recentSearches.ts';
import type { SearchIndex } from './searchIndex.ts';
import { treeRow } from '../../ui/show.ts';

const MAX_LISTED = 1000;
const TICK_MS = 30_000; // `4 min ago` stays true

export type IndexNode =
  | { readonly type: 'folder'; readonly folder: string }
  | { readonly type: 'line'; readonly folder: string; readonly line: IndexLine }
  | { readonly type: 'skipped'; readonly folder: string; readonly count: number }
  | {
      readonly type: 'reason';
      readonly folder: string;
      readonly reason: string;
      readonly items: readonly SkippedPath[];
    }
  | { readonly type: 'file'; readonly folder: string; readonly item: SkippedPath }
  | { readonly type: 'more'; readonly folder: string; readonly count: number }
  | { readonly type: 'searches'; readonly count: number }
  | { readonly type: 'search'; readonly query: string };

/** Rows of the Index view: what is indexed, when it was updated, which files were skipped and why, and the recent searches. */
export class IndexTree implements Disposable {
  readonly #index: SearchIndex;
  readonly #recent: RecentSearches;
  readonly #disposables = new DisposableStore();

  constructor(index: SearchIndex, recent: RecentSearches, changed: vscode.EventEmitter<IndexNode | undefined>) {
    this.#index = index;
    this.#recent = recent;
    this.#disposables.add(index.onDidChange(() => changed.fire(undefined)));
    this.#disposables.add(recent.onDidChange(() => changed.fire(undefined)));
  }

  async getChildren(node?: IndexNode): Promise<IndexNode[]> {
    if (node === undefined) {
      const { status } = this.#index;
      const [only] = status;
      if (only === undefined) return [];
      const rows =
        status.length === 1
          ? this.#folderRows(only)
          : status.map(({ folder }): IndexNode => ({ type: 'folder', folder }));
      const count = this.#recent.all.length;
      return count === 0 ? rows : [{ type: 'searches', count }, ...rows];
    }
    switch (node.type) {
      case 'folder': {
        const status = this.#index.status.find(({ folder }) => folder === node.folder);
        return status === undefined ? [] : this.#folderRows(status);
      }
      case 'skipped': {
        const { total, items } = await this.#index.call((server) => server.skipped(node.folder, { limit: MAX_LISTED }));
        const reasons = byReason(items).map(
          ([reason, of]): IndexNode => ({ type: 'reason', folder: node.folder, reason, items: of }),
        );
        const missing = total - items.length;
        return missing > 0 ? [...reasons, { type: 'more', folder: node.folder, count: missing }] : reasons;
      }
      case 'reason':
        return node.items.map((item): IndexNode => ({ type: 'file', folder: node.folder, item }));
      case 'searches':
        return this.#recent.all.map((query): IndexNode => ({ type: 'search', query }));
      case 'line':
      case 'file':
      case 'more':
      case 'search':
        return [];
      default:
        return assertNever(node);
    }
  }

  getTreeItem(node: IndexNode): vscode.TreeItem {
    const item = itemOf(node);
    item.id = idOf(node);
    return item;
  }

  /** Keeps the times up to date while the view is visible. */
  keepTime(
    view: { readonly visible: boolean },
    changed: vscode.EventEmitter<IndexNode | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const tick = (): void => {
      if (view.visible) changed.fire(undefined);
    };
    return repeat(tick, TICK_MS, signal);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #folderRows(status: FolderStatus): IndexNode[] {
    const { folder, skipped: count } = status;
    const lines = folderLines(status, Date.now()).map((line): IndexNode => ({ type: 'line', folder, line }));
    const afterFiles = lines.findIndex((node) => node.type === 'line' && node.line.id === 'files') + 1;
    return lines.toSpliced(afterFiles, 0, { type: 'skipped', folder, count });
  }
}

function itemOf(node: IndexNode): vscode.TreeItem {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  switch (node.type) {
    case 'folder': {
      const uri = vscode.Uri.file(node.folder);
      const name = vscode.workspace.getWorkspaceFolder(uri)?.name ?? node.folder;
      return rowOf(name, '', 'root-folder', Expanded);
    }
    case 'line': {
      const { label, description, icon } = node.line;
      const item = rowOf(label, description, icon, None);
      if (node.line.id === 'problem') item.tooltip = printableLine(description);
      return item;
    }
    case 'skipped':
      return rowOf(l10n.t('Skipped'), formatInteger(node.count), 'circle-slash', node.count > 0 ? Collapsed : None);
    case 'reason':
      return rowOf(capitalized(reasonText(node.reason)), String(node.items.length), 'dash', Collapsed);
    case 'file':
      return fileItem(node.folder, node.item);
    case 'searches': {
      const item = rowOf(l10n.t('Recent searches'), String(node.count), 'history', Collapsed);
      item.contextValue = 'recentSearches';
      return item;
    }
    case 'search': {
      const item = rowOf(node.query, '', 'search', None);
      item.command = { command: 'farwharf.searchFolder', title: l10n.t('Search Folder'), arguments: [node.query] };
      return item;
    }
    case 'more':
      return rowOf(l10n.t('and {0} more', formatInteger(node.count)), '', 'ellipsis', None);
    default:
      return assertNever(node);
  }
}

function fileItem(folder: string, skipped: SkippedPath): vscode.TreeItem {
  const { path, type } = skipped;
  const uri = vscode.Uri.joinPath(vscode.Uri.file(folder), path);
  const item = treeRow(printableLine(path));
  item.resourceUri = uri;
  item.iconPath = type === 'directory' ? vscode.ThemeIcon.Folder : vscode.ThemeIcon.File;
  item.description = printableLine(ruleText(skipped));
  item.tooltip = printableText([path, reasonText(skipped.reason), ruleText(skipped)].join('\n'));
  item.command =
    type === 'directory'
      ? { command: 'revealInExplorer', title: l10n.t('Reveal in Explorer'), arguments: [uri] }
      : { command: 'vscode.open', title: l10n.t('Open'), arguments: [uri] };
  return item;
}

function rowOf(
  label: string,
  description: string,
  icon: string,
  state: vscode.TreeItemCollapsibleState,
): vscode.TreeItem {
  const item = treeRow(printableLine(label), state);
  item.description = printableLine(description);
  item.iconPath = new vscode.ThemeIcon(icon);
  item.accessibilityInformation = { label: description === '' ? label : `${label}: ${description}` };
  return item;
}

/** A row keeps its ID when the view is drawn again, so that expanded rows stay expanded. */
function idOf(node: IndexNode): string {
  if (node.type === 'searches') return node.type;
  if (node.type === 'search') return [node.type, node.query].join('\n');
  const name = node.type === 'line' ? node.line.id : node.type === 'reason' ? node.reason : '';
  return [node.type, node.folder, node.type === 'file' ? node.item.path : name].join('\n');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
