import * as vscode from 'vscode';

/** Loads something when the first document that needs it is opened, because most windows have none. */
export function loadWhenOpened(
  needs: (document: vscode.TextDocument) => boolean,
  load: () => Promise<unknown>,
  report: (error: unknown) => Promise<void>,
): vscode.Disposable {
  const watching = vscode.workspace.onDidOpenTextDocument((document) => look(document));
  const look = (document: vscode.TextDocument): void => {
    if (!needs(document)) return;
    watching.dispose();
    load().catch(report);
  };
  const open = vscode.workspace.textDocuments.find((document) => needs(document));
  if (open !== undefined) look(open);
  return watching;
}
