import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { Printable } from '../../core/text/printable.ts';
import { withSignal } from './abort.ts';
import { label, messageText } from './labels.ts';

// The only file that passes text to VS Code's messages, inputs, lists, trees and hovers; a test enforces this.

const DONE_MS = 5_000;

/** A row of a list; `label` creates its texts. */
export interface PickItem extends vscode.QuickPickItem {
  label: Printable;
  description?: Printable;
  detail?: Printable;
}

/** A list that shows only printable text. */
export interface Pick<T extends PickItem> extends vscode.QuickPick<T> {
  title: Printable | undefined;
  placeholder: Printable | undefined;
}

/** A row of a tree. */
export interface TreeRow extends vscode.TreeItem {
  label?: Printable;
  description?: Printable;
  tooltip?: Printable | vscode.MarkdownString;
}

/** An output channel. */
export interface TextChannel extends vscode.OutputChannel {
  append(text: Printable): void;
  appendLine(text: Printable): void;
  replace(text: Printable): void;
}

export function createTextChannel(name: string, language?: string): TextChannel {
  return vscode.window.createOutputChannel(name, language);
}

export function showError(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(messageText(text), ...buttons);
}

export function showWarning(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(messageText(text), ...buttons);
}

export function showInformation(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(messageText(text), ...buttons);
}

/** Asks in a modal dialog. @param detail smaller text below the question, which may have several lines. */
export function askModal(
  text: string,
  { detail, isWarning = false }: { readonly detail?: string; readonly isWarning?: boolean },
  ...buttons: readonly string[]
): Thenable<string | undefined> {
  const options = {
    modal: true,
    ...(detail === undefined ? {} : { detail: detail.split('\n').map(messageText).join('\n') }),
  };
  const show = isWarning ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  return show(messageText(text), options, ...buttons);
}

/** Asks for a line of text. */
export function askText(
  options: Omit<vscode.InputBoxOptions, 'validateInput'> & { validateInput?: (text: string) => string | undefined },
): Thenable<string | undefined> {
  const { validateInput, ...rest } = options;
  return vscode.window.showInputBox({
    ...withSafeTexts(rest),
    ...(validateInput && {
      validateInput: (text: string) => {
        const problem = validateInput(text);
        return problem === undefined ? undefined : messageText(problem);
      },
    }),
  });
}

/** Asks for one row. */
export function pickRow<T extends PickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Thenable<T | undefined> {
  return vscode.window.showQuickPick(items, withSafeTexts(options));
}

/** Asks for any number of rows. */
export function pickRows<T extends PickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Thenable<T[] | undefined> {
  return vscode.window.showQuickPick(items, { ...withSafeTexts(options), canPickMany: true });
}

export function createPick<T extends PickItem>(): Pick<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its texts take only what is safe to show
  return vscode.window.createQuickPick<T>() as Pick<T>;
}

/**
 * The row that was accepted in a list, for `onDidAccept`. VS Code reports it as selected just before. Which row is active is reported
 * late when rows were replaced, or not at all, and a row that was selected earlier may have gone.
 */
export function acceptedRow<T extends PickItem>({ items, selectedItems, activeItems }: Pick<T>): T | undefined {
  return [...selectedItems, ...activeItems].find((row) => items.includes(row));
}

type Progress = vscode.Progress<{ message?: string; increment?: number }>;

/** Shows progress while `work` runs. */
export function showProgress<R>(
  options: vscode.ProgressOptions,
  work: (progress: Progress, token: vscode.CancellationToken) => Thenable<R>,
): Thenable<R> {
  return vscode.window.withProgress(withSafeTexts(options), (progress, token) =>
    work({ report: (step) => progress.report(withSafeTexts(step)) }, token),
  );
}

/** Shows progress in a notification while `work` runs. Its Cancel button aborts the signal. */
export async function showCancellable<R>(
  title: string,
  work: (signal: AbortSignal, progress: Progress) => Promise<R>,
): Promise<R> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return showProgress(options, (progress, token) => withSignal(token, (signal) => work(signal, progress)));
}

/** Shows text, which may start with an icon, in the status bar. `duration` is in milliseconds. */
export function showInStatusBar(text: Printable, duration: number): vscode.Disposable {
  return vscode.window.setStatusBarMessage(text, duration);
}

/** Confirms in the status bar for some seconds what a command has done, if it is not seen elsewhere. */
export function showDone(text: string): void {
  showInStatusBar(label`$(check) ${text}`, DONE_MS);
}

export function treeRow(text: Printable, state = vscode.TreeItemCollapsibleState.None): TreeRow {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its texts take only what is safe to show
  return new vscode.TreeItem(text, state) as TreeRow;
}

/** What a click on the row of a file does. */
export function openCommand(uri: vscode.Uri): vscode.Command {
  return { command: 'vscode.open', title: l10n.t('Open'), arguments: [uri, { preview: true }] };
}

/**
 * A hover. Untrusted text in it has passed `escapeMarkdown`; HTML is never shown.
 *
 * @param commands the commands that its links may run.
 */
export function hover(
  markdown: string,
  { hasIcons = false, commands = [] }: { readonly hasIcons?: boolean; readonly commands?: readonly string[] } = {},
): vscode.MarkdownString {
  const content = new vscode.MarkdownString(markdown, hasIcons);
  if (commands.length > 0) content.isTrusted = { enabledCommands: commands };
  return content;
}

/** The same options or progress, whose texts cannot act as links. */
function withSafeTexts<T extends { title?: string; prompt?: string; placeHolder?: string; message?: string }>(
  options: T,
): T {
  const safe = { ...options };
  for (const name of ['title', 'prompt', 'placeHolder', 'message'] as const) {
    const text = options[name];
    if (text !== undefined) Object.assign(safe, { [name]: messageText(text) });
  }
  return safe;
}
