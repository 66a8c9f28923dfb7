import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { formatBytes, formatInteger, plural } from '../../../core/text/format.ts';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import { checkState, chooseToSend, type TreeEntry, type TreeLevel } from '../../../jobs/selection/fileTree.ts';
import type { SubmitDraft } from '../../../jobs/plan/draft.ts';
import type { ContextKeys } from '../../contributions/contexts.ts';
import { FILES_VIEW } from '../../contributions/names.ts';
import { label, messageText } from '../../ui/labels.ts';
import { openCommand, treeRow } from '../../ui/show.ts';
import type { SubmitView } from './submitView.ts';
import { fileRow } from './fileRow.ts';
import { ruleLocation } from './ruleLocation.ts';

type FileNode = TreeEntry | { readonly more: number };
type CheckboxChanges = readonly (readonly [FileNode, vscode.TreeItemCheckboxState])[];

interface FilesViewDeps {
  readonly selections: { listLevel(id: string, folder: string): Promise<TreeLevel> };
  readonly contexts: ContextKeys;
  /** Reports what could not be planned. */
  report(error: unknown): void;
}

/** The tree of all files in a folder that is about to be submitted, sent or left out, with the reasons. It is shown on request only. */
export class FilesView implements vscode.TreeDataProvider<FileNode>, Disposable {
  readonly #deps: FilesViewDeps;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #shown = new WeakSet<object>();
  #view: SubmitView | undefined;
  #leave: (draft: SubmitDraft | undefined) => void = () => {};
  #isClosed: Promise<void> = Promise.resolve();

  constructor(deps: FilesViewDeps) {
    this.#deps = deps;
  }

  /**
   * Shows the files of a submit until the user returns to it.
   *
   * @param replan plans a draft whose files were chosen differently.
   * @returns the draft with the files as chosen; undefined if another submit took the view over, or the window closes.
   */
  async review(
    first: SubmitView,
    replan: (draft: SubmitDraft) => Promise<SubmitView>,
  ): Promise<SubmitDraft | undefined> {
    this.#leave(undefined);
    await this.#isClosed;
    this.#view = first;
    this.#deps.contexts.set('reviewingFiles', true);
    const tree = vscode.window.createTreeView<FileNode>(FILES_VIEW, {
      treeDataProvider: this,
      manageCheckboxStateManually: true,
      showCollapseAll: true,
    });
    const { promise, resolve } = Promise.withResolvers<SubmitDraft | undefined>();
    this.#leave = resolve;
    const closed = Promise.withResolvers<void>();
    this.#isClosed = closed.promise;
    // Changes are planned one after the other, each from the draft before.
    const replanAfter = async (before: Promise<void>, items: CheckboxChanges): Promise<void> => {
      await before;
      try {
        this.#view = await replan(chosen(this.#view ?? first, items));
      } catch (error) {
        this.#deps.report(error);
      }
      tree.message = summary(this.#view ?? first);
      this.#changed.fire(undefined);
    };
    let planning = Promise.resolve();
    const choosing = tree.onDidChangeCheckboxState(({ items }) => {
      planning = replanAfter(planning, items);
    });
    tree.message = summary(first);
    try {
      // The focus is in the list of the preflight, which has just closed.
      await vscode.commands.executeCommand(`${FILES_VIEW}.focus`);
      const draft = await promise;
      await planning;
      return draft === undefined ? undefined : this.#view?.draft;
    } finally {
      choosing.dispose();
      tree.dispose();
      this.#deps.contexts.set('reviewingFiles', false);
      closed.resolve();
    }
  }

  /** Returns to the submit. Does nothing if the tree is not shown. */
  close(): void {
    this.#leave(this.#view?.draft);
  }

  /**
   * Opens the rule that leaves an entry out.
   *
   * @throws AppError `missing` if the argument is no such entry of this tree, or its rule is built in.
   */
  async openRule(argument: unknown): Promise<void> {
    const entry = this.#entryOf(argument);
    const at = entry?.exclusion?.at;
    const root = this.#view?.selection.root;
    const place = at === undefined || root === undefined ? undefined : ruleLocation(root, at);
    if (place === undefined) throw new AppError('missing', l10n.t('No ignore file has a rule for this entry.'));
    const selection = new vscode.Range(place.line - 1, 0, place.line - 1, 0);
    await vscode.window.showTextDocument(vscode.Uri.file(place.path), { preview: true, selection });
  }

  async getChildren(node?: FileNode): Promise<FileNode[]> {
    const view = this.#view;
    if (view === undefined || (node !== undefined && !('path' in node))) return [];
    const { entries, more } = await this.#deps.selections.listLevel(view.selection.id, node?.path ?? '');
    for (const entry of entries) this.#shown.add(entry);
    return more === 0 ? [...entries] : [...entries, { more }];
  }

  getTreeItem(node: FileNode): vscode.TreeItem {
    if (!('path' in node))
      return treeRow(label`${plural(node.more, l10n.t('1 more entry'), l10n.t('{0} more entries'))}`);
    const view = this.#view;
    const isOpenable = node.sent > 0 || node.leftOut > 0;
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    const row = fileRow(node);
    const item = treeRow(row.label, node.isFolder && isOpenable ? Collapsed : None);
    item.id = node.path;
    item.description = row.description;
    item.accessibilityInformation = { label: row.spoken };
    item.iconPath = node.isFolder ? vscode.ThemeIcon.Folder : vscode.ThemeIcon.File;
    if (row.rule !== undefined) item.contextValue = 'file.rule';
    if (view === undefined) return item;
    // Gives the row the icon and the colours of its file.
    const uri = vscode.Uri.file(join(view.selection.root, node.path));
    item.resourceUri = uri;
    const isChecked = checkState(node, view.draft);
    const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
    if (isChecked !== undefined) {
      const state = isChecked ? Checked : Unchecked;
      item.checkboxState = { state, accessibilityInformation: { label: row.label } };
    }
    if (!node.isFolder) item.command = openCommand(uri);
    return item;
  }

  dispose(): void {
    this.#leave(undefined);
    this.#changed.dispose();
  }

  #entryOf(argument: unknown): TreeEntry | undefined {
    return typeof argument === 'object' && argument !== null && this.#isShown(argument) ? argument : undefined;
  }

  /** Other extensions may pass anything to a command. */
  #isShown(argument: object): argument is TreeEntry {
    return this.#shown.has(argument);
  }
}

function chosen({ draft }: SubmitView, items: CheckboxChanges): SubmitDraft {
  let next = draft;
  for (const [node, state] of items)
    if ('path' in node)
      next = { ...next, ...chooseToSend(next, node.path, state === vscode.TreeItemCheckboxState.Checked) };
  return next;
}

function summary({ draft, selection }: SubmitView): ReturnType<typeof messageText> {
  const { fileCount, totalBytes } = selection;
  const amount =
    fileCount === 1
      ? l10n.t('1 file, {0} will be sent with {1}.', formatBytes(totalBytes), draft.script)
      : l10n.t(
          '{2} files, {0} will be sent with {1}.',
          formatBytes(totalBytes),
          draft.script,
          formatInteger(fileCount),
        );
  return messageText(`${amount} ${l10n.t('Clear a check mark to leave something out. Press Escape to return.')}`);
}
