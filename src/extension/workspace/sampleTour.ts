import * as vscode from 'vscode';
import { JOBS_VIEW } from '../contributions/names.ts';
import { openWalkthrough } from './walkthrough.ts';

const OPENED_KEY = 'sampleFolder';
const CREATED_KEY = 'sampleFolders';
const MAX_REMEMBERED = 20;

/** Opens a sample folder; the window that shows it continues the walkthrough. */
export async function openSample(folder: vscode.Uri, memory: vscode.Memento): Promise<void> {
  await memory.update(OPENED_KEY, folder.toString());
  await memory.update(CREATED_KEY, [folder.fsPath, ...sampleFolders(memory)].slice(0, MAX_REMEMBERED));
  const forceNewWindow = vscode.workspace.workspaceFolders !== undefined;
  await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow });
}

/** Shows the walkthrough in the window of a new sample folder. VS Code takes it there only for its own commands that open folders. */
export async function continueTour({ globalState, extension }: vscode.ExtensionContext): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined || globalState.get(OPENED_KEY) !== folder.uri.toString()) return;
  await globalState.update(OPENED_KEY, undefined);
  await vscode.commands.executeCommand(`${JOBS_VIEW}.focus`);
  await openWalkthrough(extension.id, 'example');
}

/** The paths of the sample folders that were created last. */
export function sampleFolders(memory: vscode.Memento): readonly string[] {
  return memory.get<readonly string[]>(CREATED_KEY) ?? [];
}
