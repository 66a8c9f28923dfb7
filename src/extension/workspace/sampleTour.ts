import * as vscode from 'vscode';
import { JOBS_VIEW } from '../contributions/names.ts';

const SAMPLE_KEY = 'sampleFolder';

/** Opens a sample folder; the window that shows it continues the walkthrough. */
export async function openSample(folder: vscode.Uri, memory: vscode.Memento): Promise<void> {
  await memory.update(SAMPLE_KEY, folder.toString());
  const forceNewWindow = vscode.workspace.workspaceFolders !== undefined;
  await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow });
}

/** Shows the walkthrough in the window of a new sample folder. VS Code takes it there only for its own commands that open folders. */
export async function continueTour({ globalState, extension }: vscode.ExtensionContext): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined || globalState.get(SAMPLE_KEY) !== folder.uri.toString()) return;
  await globalState.update(SAMPLE_KEY, undefined);
  await vscode.commands.executeCommand(`${JOBS_VIEW}.focus`);
  const step = { category: `${extension.id}#start`, step: 'example' };
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', step, false);
}
