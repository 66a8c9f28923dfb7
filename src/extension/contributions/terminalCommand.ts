import { delimiter } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';

/**
 * Makes `farwharf` a command of the editor's terminals, except in Restricted Mode. It comes last in the PATH, so that a `farwharf` that
 * the user has installed is the one that runs. VS Code removes it together with the extension.
 */
export function registerTerminalCommand(context: vscode.ExtensionContext): vscode.Disposable {
  const variables = context.environmentVariableCollection;
  const add = (): void => {
    variables.description = l10n.t('Adds the command `farwharf`.');
    // Again after the shell's start files, because those of a login shell can set a PATH of their own.
    const options = { applyAtProcessCreation: true, applyAtShellIntegration: true };
    variables.append('PATH', `${delimiter}${context.asAbsolutePath('terminal')}`, options);
    variables.replace('FARWHARF_EDITOR_NODE', process.execPath, options);
  };
  if (vscode.workspace.isTrusted) add();
  else variables.clear(); // VS Code may have kept them from when the folder was trusted
  return vscode.workspace.onDidGrantWorkspaceTrust(add);
}
