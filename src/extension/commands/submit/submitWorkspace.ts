import * as vscode from 'vscode';
import { submit } from '../../submit/submit.ts';
import { readSubmitArguments } from '../../submit/submitArguments.ts';
import { withArgument } from '../command.ts';

export const submitWorkspace = withArgument(
  (argument) => readSubmitArguments(withoutFile(argument)),
  ({ services }, asked) => submit(services, asked),
);

/** A menu passes the resource under the pointer, which names the folder but not the script. */
function withoutFile(argument: unknown): unknown {
  if (!(argument instanceof vscode.Uri)) return argument;
  const folder = vscode.workspace.getWorkspaceFolder(argument);
  return folder === undefined ? undefined : { folder: folder.uri.fsPath };
}
