import * as vscode from 'vscode';
import type { SourceRange } from '../../../flows/graph/graph.ts';
import { readerPath } from '../documents/flowDocuments.ts';
import { toRange } from '../documents/ranges.ts';

/** Shows a range of a flow's source beside the canvas: in an editor with the file, else in the first column. */
export async function revealSource(range: SourceRange, isPreview: boolean): Promise<void> {
  const open = vscode.workspace.textDocuments.find((document) => readerPath(document) === range.file);
  const uri = open?.uri ?? vscode.Uri.file(range.file);
  const shown = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  const selection = toRange(range);
  const editor = await vscode.window.showTextDocument(uri, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    preserveFocus: isPreview,
    preview: isPreview,
    selection: new vscode.Range(selection.start, isPreview ? selection.start : selection.end),
  });
  editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
