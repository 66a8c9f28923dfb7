import * as vscode from 'vscode';
import type { TextEdit } from '../../../flows/graph/graph.ts';
import { readerPath } from './flowDocuments.ts';
import { toRange } from './ranges.ts';

/** Edits for VS Code as one undo step, across files. */
export function toWorkspaceEdit(edits: readonly TextEdit[]): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const { range, text } of edits) edit.replace(uriOf(range.file), toRange(range), text);
  return edit;
}

/** Applies edits to sources. Returns false if VS Code rejects them, as in a read-only file. */
export async function applySourceEdits(edits: readonly TextEdit[]): Promise<boolean> {
  return vscode.workspace.applyEdit(toWorkspaceEdit(edits));
}

/** The URI of a file of the reader. */
export function uriOf(file: string): vscode.Uri {
  return vscode.workspace.textDocuments.find((document) => readerPath(document) === file)?.uri ?? vscode.Uri.file(file);
}
