import { join, resolve } from 'node:path';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { formatBytes, formatInteger, plural } from '../../../core/text/format.ts';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import { checkState, chooseToSend, type TreeEntry, type TreeLevel } from '../../../jobs/selection/fileTree.ts';
import type { SubmitDraft } from '../../../jobs/submit/draft.ts';
import type { ContextKeys } from '../../contributions/contexts.ts';
import { FILES_VIEW } from '../../contributions/names.ts';
import { label, messageText, withoutIcons } from '../../ui/labels.ts';
import { openCommand, treeRow } from '../../ui/show.ts';
import type { SubmitView } from './submitView.ts';
import { joinPrintable, type Printable, printable } from '../../../core/text/printable.ts';
import { describeExclusion } from '../../../jobs/selection/exclusions.ts';

type FileNode = TreeEntry | { readonly more: number };
type CheckboxChanges = readonly (readonly [FileNode, vscode.TreeItemCheckboxState])[];

interface FilesViewDeps {
  readonly selections: { listLevel(id: string, folder: string): Promise<TreeLevel> };
  readonly contexts: ContextKeys;
  /** Reports what could not be planned. */
  report(error: unknown): void;
}

/** What a row of the tree shows. */
interface FileRow {
  readonly label: Printable;
  readonly description: Printable;
  /** What a screen reader says. */
  readonly spoken: Printable;
  /** The location of the rule that leaves the entry out: `sub/.gitignore:3`. */
  readonly rule?: string;
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

/** The row of a file or folder: how much of it is sent, or why it is left out and which rule says so. */
export function fileRow({ name, isFolder, sent, sentBytes, leftOut, target, exclusion }: TreeEntry): FileRow {
  const amount =
    exclusion !== undefined && sent === 0
      ? withoutIcons(describeExclusion(exclusion))
      : isFolder
        ? folderText({ sent, sentBytes, leftOut })
        : label`${formatBytes(sentBytes)}`;
  const description = target === undefined ? amount : label`${l10n.t('link to {0}', target)} · ${amount}`;
  const state = sent > 0 ? label`${l10n.t('sent')}` : label`${l10n.t('left out')}`;
  return {
    label: withoutIcons(name),
    description,
    spoken: joinPrintable([withoutIcons(name), printable`, `, state, printable`, `, description]),
    ...(exclusion?.at === undefined ? {} : { rule: exclusion.at }),
  };
}

function folderText({ sent, sentBytes, leftOut }: Pick<TreeEntry, 'sent' | 'sentBytes' | 'leftOut'>): Printable {
  const parts = [
    ...(sent > 0 ? [`${plural(sent, l10n.t('1 file'), l10n.t('{0} files'))}, ${formatBytes(sentBytes)}`] : []),
    ...(leftOut > 0 ? [l10n.t('{0} left out', leftOut)] : []),
  ];
  return label`${parts.join(' · ')}`;
}

/** The absolute path and the line, from 1, of a rule's location (`sub/.gitignore:3`) in a folder; undefined for other texts. */
export function ruleLocation(root: string, at: string): { readonly path: string; readonly line: number } | undefined {
  const { path, line } = /^(?<path>.+):(?<line>\d+)$/s.exec(at)?.groups ?? {};
  if (path === undefined || line === undefined) return undefined;
  return {
    path: resolve(
      root,
      path.replace(/^~(?=\/)/, () => homedir()),
    ),
    line: Number(line),
  };
}
