import * as vscode from 'vscode';

const PROFILE_FILE = 'farwharf.json';

/** Loads the features when a file of profiles is opened, so that its actions and problems are shown. */
export function startProfilesWhereNeeded(
  load: () => Promise<unknown>,
  report: (error: unknown) => Promise<void>,
): vscode.Disposable {
  const watching = vscode.workspace.onDidOpenTextDocument((document) => look(document));
  const look = ({ uri }: vscode.TextDocument): void => {
    if (!uri.path.endsWith(`/${PROFILE_FILE}`)) return;
    watching.dispose();
    load().catch(report);
  };
  for (const document of vscode.workspace.textDocuments) look(document);
  return watching;
}
