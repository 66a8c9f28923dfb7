import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import { type FlowDocuments, readerPath } from '../documents/flowDocuments.ts';
import { toRange } from '../documents/ranges.ts';

/** A mark in the gutter at each line that makes a flow, so that it is found while scrolling. */
export class FlowMarks implements Disposable {
  readonly #documents: FlowDocuments;
  readonly #mark: vscode.TextEditorDecorationType;
  readonly #disposables = new DisposableStore();

  constructor(documents: FlowDocuments, extension: vscode.Uri) {
    this.#documents = documents;
    const own = this.#disposables;
    this.#mark = own.add(
      vscode.window.createTextEditorDecorationType({
        gutterIconPath: vscode.Uri.joinPath(extension, 'media', 'flowGutter.svg'),
        gutterIconSize: 'contain',
        overviewRulerColor: new vscode.ThemeColor('charts.green'),
        overviewRulerLane: vscode.OverviewRulerLane.Left,
      }),
    );
    own.add(documents.onDidRead(() => this.#drawAll()));
    own.add(vscode.window.onDidChangeVisibleTextEditors(() => this.#drawAll()));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const readout = this.#documents.last(editor.document.uri);
      const path = readerPath(editor.document);
      const flows = (readout?.file.flows ?? []).filter(({ range }) => range.file === path);
      if (readout === undefined || readout.version !== editor.document.version) continue; // the next reading draws
      const starts = flows.map(({ range, label }) => {
        const { start } = toRange(range);
        return { range: new vscode.Range(start, start), hoverMessage: `Flow ${label}` };
      });
      editor.setDecorations(this.#mark, starts);
    }
  }
}
