import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../core/processes/lifetime.ts';
import type { ColouredLines, TextStyle } from '../../../jobs/log/colouredLines.ts';

// Rows beyond the visible ones, which scrolling shows before this extension is notified.
const MARGIN_ROWS = 100;
const PAUSE_MS = 100;
const NAMES = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan', 'White'];

/** Shows the visible lines of logs in the colours that the program asked for, as the theme's terminals have them. */
export class LogColours implements Disposable {
  readonly #lines: Pick<ColouredLines, 'of'>;
  readonly #language: string;
  readonly #types = new Map<string, vscode.TextEditorDecorationType>();
  readonly #disposables = new DisposableStore();
  readonly #end = new AbortController();
  #isDue = false;

  /** @param language of the documents that show logs. */
  constructor(lines: Pick<ColouredLines, 'of'>, language: string) {
    this.#lines = lines;
    this.#language = language;
    const draw = (): void => void this.#drawSoon();
    const isLog = ({ languageId }: vscode.TextDocument): boolean => languageId === language;
    for (const listening of [
      vscode.workspace.onDidChangeTextDocument(({ document }) => isLog(document) && draw()),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => isLog(textEditor.document) && draw()),
      vscode.window.onDidChangeVisibleTextEditors(draw),
    ])
      this.#disposables.add(listening);
  }

  dispose(): void {
    this.#end.abort();
    this.#disposables.dispose();
    for (const type of this.#types.values()) type.dispose();
  }

  async #drawSoon(): Promise<void> {
    if (this.#isDue) return;
    this.#isDue = true;
    await sleep(PAUSE_MS, undefined, { signal: this.#end.signal }).catch(() => {});
    this.#isDue = false;
    if (this.#end.signal.aborted) return;
    for (const editor of vscode.window.visibleTextEditors)
      if (editor.document.languageId === this.#language) this.#draw(editor);
  }

  #draw(editor: vscode.TextEditor): void {
    const ranges = new Map<vscode.TextEditorDecorationType, vscode.Range[]>();
    for (const type of this.#types.values()) ranges.set(type, []);
    for (const { start, end } of editor.visibleRanges) {
      const last = Math.min(editor.document.lineCount - 1, end.line + MARGIN_ROWS);
      for (let row = Math.max(0, start.line - MARGIN_ROWS); row <= last; row += 1) {
        for (const part of this.#lines.of(editor.document.lineAt(row).text)) {
          const type = this.#typeOf(part.style);
          ranges.set(type, [...(ranges.get(type) ?? []), new vscode.Range(row, part.start, row, part.end)]);
        }
      }
    }
    for (const [type, found] of ranges) editor.setDecorations(type, found);
  }

  #typeOf({ colour, isBold }: TextStyle): vscode.TextEditorDecorationType {
    const key = `${colour} ${isBold}`;
    const decoration = this.#types.get(key);
    if (decoration !== undefined) return decoration;
    const type = vscode.window.createTextEditorDecorationType({
      ...(isBold && { fontWeight: 'bold' }),
      ...(colour !== undefined && { color: new vscode.ThemeColor(`terminal.ansi${nameOf(colour)}`) }),
    });
    this.#types.set(key, type);
    return type;
  }
}

function nameOf(colour: number): string {
  return `${colour < NAMES.length ? '' : 'Bright'}${NAMES[colour % NAMES.length] ?? ''}`;
}
