import * as vscode from 'vscode';
import type { TextEdit } from '../../../flows/graph/graph.ts';
import { readerPath } from './flowDocuments.ts';
import { toRange } from './ranges.ts';

/** Several edits as VS Code takes them: one step of undo, over several files too. */
export function toWorkspaceEdit(edits: readonly TextEdit[]): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const { range, text } of edits) edit.replace(uriOf(range.file), toRange(range), text);
  return edit;
}

/** Makes edits of sources. Gives false where VS Code refuses them, as in a read-only file. */
export async function applySourceEdits(edits: readonly TextEdit[]): Promise<boolean> {
  return vscode.workspace.applyEdit(toWorkspaceEdit(edits));
}

/** The address of a file that the reader names. */
export function uriOf(file: string): vscode.Uri {
  return vscode.workspace.textDocuments.find((document) => readerPath(document) === file)?.uri ?? vscode.Uri.file(file);
}
