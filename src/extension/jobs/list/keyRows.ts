import * as vscode from 'vscode';

/**
 * The rows of a tree that a key concerns, as in the Explorer: those that are selected, or only the one with the focus if it is not among
 * them. Arrow keys move the focus without selecting, and VS Code reports only what is selected, so this selects the focused row for a moment.
 */
export async function keyRows<T>(view: Pick<vscode.TreeView<T>, 'selection'>): Promise<readonly T[]> {
  const before = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  const focused = view.selection.filter((row) => !before.includes(row));
  await vscode.commands.executeCommand('list.toggleSelection');
  return focused.length > 0 ? focused : before;
}
