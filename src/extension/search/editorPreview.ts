import * as vscode from 'vscode';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { SerialQueue } from '../../core/processes/serialQueue.ts';
import type { Highlight } from '../../retrieval/index/highlights.ts';

/** A range of lines in a file; lines start at 0. */
export interface Place {
  readonly uri: vscode.Uri;
  readonly firstLine: number;
  readonly lastLine: number;
  /** The line to scroll to. */
  readonly line: number;
  /** Words to highlight, with lines relative to `firstLine`. */
  readonly highlights: readonly Highlight[];
}

/** What the editor showed before, to restore it. */
interface Before {
  readonly editor: vscode.TextEditor | undefined;
  readonly tab: vscode.Tab | undefined;
  readonly visibleRange: vscode.Range | undefined;
  /** The tab in preview mode, which a preview replaces. */
  readonly previewTab: vscode.Tab | undefined;
  readonly uris: ReadonlySet<string>;
}

/**
 * Previews search results in the editor while a list keeps the focus. `restore` brings back the editor, its scroll position and the
 * tabs. A preview does not change selections.
 */
export class EditorPreview implements Disposable {
  readonly #range = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'), // undefined in high contrast, which highlights only the words
  });
  readonly #word = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('editor.findMatchHighlightBackground'),
    outline: '1px solid',
    outlineColor: new vscode.ThemeColor('editor.findMatchHighlightBorder'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.findMatchForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
  #before: Before | undefined;
  #shown: vscode.TextEditor | undefined;
  /** Editors are opened one after the other, because two that open at once finish in any order. */
  readonly #turns = new SerialQueue();
  #latest: Place | undefined;

  /** Previews a place, unless another one is requested before its turn. */
  show(place: Place): Promise<void> {
    this.#latest = place;
    return this.#turns.run(async () => {
      if (this.#latest !== place) return;
      this.#before ??= look();
      const editor = await vscode.window.showTextDocument(place.uri, { preview: true, preserveFocus: true });
      if (this.#shown !== editor) this.#clear();
      this.#shown = editor;
      this.#decorate(editor, place);
    });
  }

  /** Opens a place in a permanent tab and selects it. */
  open(place: Place): Promise<void> {
    this.#latest = place;
    return this.#turns.run(async () => {
      this.#clear();
      const document = await vscode.workspace.openTextDocument(place.uri);
      const selection = document.validateRange(
        new vscode.Range(place.firstLine, 0, place.lastLine, Number.MAX_SAFE_INTEGER),
      );
      const editor = await vscode.window.showTextDocument(document, { preview: false, selection });
      editor.revealRange(lineRange(place.line), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      this.#before = undefined;
    });
  }

  /** Restores what was shown before the first preview. */
  restore(): Promise<void> {
    this.#latest = undefined;
    return this.#turns.run(async () => {
      this.#clear();
      const before = this.#before;
      this.#before = undefined;
      if (before !== undefined) await putBack(before);
    });
  }

  dispose(): void {
    this.#range.dispose();
    this.#word.dispose();
  }

  #decorate(editor: vscode.TextEditor, { firstLine, lastLine, line, highlights }: Place): void {
    editor.setDecorations(this.#range, [new vscode.Range(firstLine, 0, lastLine, 0)]);
    editor.setDecorations(
      this.#word,
      highlights.map((word) => new vscode.Range(firstLine + word.line, word.start, firstLine + word.line, word.end)),
    );
    editor.revealRange(lineRange(line), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  #clear(): void {
    this.#shown?.setDecorations(this.#range, []);
    this.#shown?.setDecorations(this.#word, []);
    this.#shown = undefined;
  }
}

const lineRange = (line: number): vscode.Range => new vscode.Range(line, 0, line, 0);

function look(): Before {
  const { activeTextEditor: editor, tabGroups } = vscode.window;
  const { activeTab, tabs } = tabGroups.activeTabGroup;
  return {
    editor,
    tab: activeTab,
    visibleRange: editor?.visibleRanges[0],
    previewTab: tabs.find(({ isPreview }) => isPreview),
    uris: new Set(tabs.flatMap((tab) => uriOf(tab) ?? [])),
  };
}

async function putBack({ editor, tab, visibleRange, previewTab, uris }: Before): Promise<void> {
  const { tabGroups } = vscode.window;
  // Looked up again, because VS Code can replace its groups and refuses to close a tab of a replaced group.
  const group =
    tabGroups.all.find(({ viewColumn }) => viewColumn === tab?.group.viewColumn) ?? tabGroups.activeTabGroup;
  const added = group.tabs.filter((open) => open.isPreview && !uris.has(uriOf(open) ?? ''));
  const options = { viewColumn: group.viewColumn, preserveFocus: true };
  const previousInput = previewTab?.input;
  const isLost =
    previousInput instanceof vscode.TabInputText &&
    !group.tabs.some((open) => uriOf(open) === previousInput.uri.toString());
  if (isLost) await vscode.window.showTextDocument(previousInput.uri, { ...options, preview: true });
  else await tabGroups.close(added, true);
  if (editor !== undefined) {
    const shownEditor = await vscode.window.showTextDocument(editor.document, {
      ...options,
      preview: tab?.isPreview ?? false,
    });
    shownEditor.selections = editor.selections;
    if (visibleRange) shownEditor.revealRange(visibleRange, vscode.TextEditorRevealType.AtTop);
  } else if (tab?.input instanceof vscode.TabInputText) {
    await vscode.window.showTextDocument(tab.input.uri, { ...options, preview: tab.isPreview });
  }
}

function uriOf({ input }: vscode.Tab): string | undefined {
  return input instanceof vscode.TabInputText ? input.uri.toString() : undefined;
}
