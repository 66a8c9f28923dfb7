import * as vscode from 'vscode';
import type { SourceRange } from '../../../flows/graph/graph.ts';
import { toRange } from '../documents/ranges.ts';
import { uriOf } from '../documents/sourceEdits.ts';

/**
 * Shows a range of a flow's source beside the canvas, never over it: in an editor with the file, else in the first column.
 *
 * @param canvas the column of the canvas.
 */
export async function revealSource(
  range: SourceRange,
  isPreview: boolean,
  canvas: vscode.ViewColumn | undefined,
): Promise<void> {
  const uri = uriOf(range.file);
  const selection = toRange(range);
  const editor = await vscode.window.showTextDocument(uri, {
    viewColumn: sourceColumn(uri, canvas),
    preserveFocus: isPreview,
    preview: isPreview,
    selection: new vscode.Range(selection.start, isPreview ? selection.start : selection.end),
  });
  editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** The column for a flow's source: that of an editor with the file, else one beside the canvas. */
export function sourceColumn(uri: vscode.Uri, canvas: vscode.ViewColumn | undefined): vscode.ViewColumn {
  const shown = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  return shown?.viewColumn ?? (canvas === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
}
