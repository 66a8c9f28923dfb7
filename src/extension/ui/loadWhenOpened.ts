import * as vscode from 'vscode';

/** Loads something when the first document that needs it is opened, because most windows have none. */
export function loadWhenOpened(
  needs: (document: vscode.TextDocument) => boolean,
  load: () => Promise<unknown>,
  report: (error: unknown) => Promise<void>,
): vscode.Disposable {
  const watching = vscode.workspace.onDidOpenTextDocument((document) => look(document));
  let isLoaded = false;
  const look = (document: vscode.TextDocument): void => {
    if (isLoaded || !needs(document)) return;
    isLoaded = true;
    watching.dispose();
    load().catch(report);
  };
  for (const document of vscode.workspace.textDocuments) look(document);
  return watching;
}
