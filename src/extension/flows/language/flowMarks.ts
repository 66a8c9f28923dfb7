import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import { type FlowDocuments, readerPath } from '../documents/flowDocuments.ts';
import { toRange } from '../documents/ranges.ts';

/** Marks the lines that create flows in the gutter, so that they are found while scrolling. */
export function showFlowMarks(documents: FlowDocuments, extension: vscode.Uri): Disposable {
  const own = new DisposableStore();
  const mark = own.add(
    vscode.window.createTextEditorDecorationType({
      gutterIconPath: vscode.Uri.joinPath(extension, 'media', 'flowGutter.svg'),
      gutterIconSize: 'contain',
      overviewRulerColor: new vscode.ThemeColor('charts.green'),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  );
  const drawAll = (): void => {
    for (const editor of vscode.window.visibleTextEditors) {
      const readout = documents.last(editor.document.uri);
      if (readout === undefined || readout.version !== editor.document.version) continue; // the next reading draws
      const path = readerPath(editor.document);
      const starts = readout.file.flows.flatMap(({ range, label }) => {
        const { start } = toRange(range);
        return range.file === path
          ? [{ range: new vscode.Range(start, start), hoverMessage: l10n.t('Flow {0}', label) }]
          : [];
      });
      editor.setDecorations(mark, starts);
    }
  };
  own.add(documents.onDidRead(drawAll));
  own.add(vscode.window.onDidChangeVisibleTextEditors(drawAll));
  return own;
}
