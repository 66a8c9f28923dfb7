import * as vscode from 'vscode';
import { JOBS_VIEW } from '../contributions/names.ts';
import { openWalkthrough } from './walkthrough.ts';

const OPENED_KEY = 'tourFolder';
const SAMPLES_KEY = 'sampleFolders';
const MAX_REMEMBERED = 20;

/** A folder that was opened from the walkthrough, and the step that its window shows. */
interface OpenedFolder {
  readonly uri: string;
  readonly step: string;
}

/** Opens a sample folder; the window that shows it continues the walkthrough. */
export async function openSample(folder: vscode.Uri, memory: vscode.Memento): Promise<void> {
  await memory.update(SAMPLES_KEY, [folder.fsPath, ...sampleFolders(memory)].slice(0, MAX_REMEMBERED));
  await openInTour(folder, 'example', memory, { forceNewWindow: vscode.workspace.workspaceFolders !== undefined });
}

/** Opens a folder whose window continues the walkthrough at a step. VS Code does that only for its own commands in windows without a folder. */
export async function openInTour(
  folder: vscode.Uri,
  step: string,
  memory: vscode.Memento,
  { forceNewWindow }: { readonly forceNewWindow: boolean },
): Promise<void> {
  await memory.update(OPENED_KEY, { uri: folder.toString(), step } satisfies OpenedFolder);
  await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow });
}

/** Shows the walkthrough in the window of a folder that was opened from it. */
export async function continueTour({ globalState, extension }: vscode.ExtensionContext): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const openedFolder = globalState.get<OpenedFolder>(OPENED_KEY);
  if (folder === undefined || openedFolder?.uri !== folder.uri.toString()) return;
  await globalState.update(OPENED_KEY, undefined);
  await vscode.commands.executeCommand(`${JOBS_VIEW}.focus`);
  await openWalkthrough(extension.id, openedFolder.step);
}

/** The paths of the sample folders that were created last. */
export function sampleFolders(memory: vscode.Memento): readonly string[] {
  return memory.get<readonly string[]>(SAMPLES_KEY) ?? [];
}
