import * as vscode from 'vscode';
import { AppError } from '../../core/errors.ts';
import { requireTrust } from '../folders.ts';

interface Template extends vscode.QuickPickItem {
  readonly file: string;
}

const TEMPLATES: readonly Template[] = [
  {
    file: 'chat',
    label: 'Chat',
    detail: 'Questions and answers, with retries and a fallback for a bad day of the service.',
  },
  {
    file: 'research',
    label: 'Research Agent',
    detail: 'A loop that decides by itself when it has found enough, with a nested flow.',
  },
  { file: 'mapReduce', label: 'Map and Reduce', detail: 'Many files at once, then one result from all of them.' },
  {
    file: 'askFolder',
    label: 'Ask a Folder',
    detail: 'Retrieval: an answer from the files of a folder, with its sources.',
  },
];

/** Makes a flow file from a template where a person says, and gives its document; undefined when the person left. */
export async function newFlow(extension: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  requireTrust();
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new AppError('missing', 'Open a folder first: the new flow is a file in it.');
  const template = await vscode.window.showQuickPick(TEMPLATES, {
    title: 'New Flow',
    placeHolder: 'What should it begin as?',
    matchOnDetail: true,
  });
  if (template === undefined) return undefined;
  const target = await vscode.window.showSaveDialog({
    title: 'New Flow',
    defaultUri: vscode.Uri.joinPath(folder.uri, `${template.file}.mts`),
    filters: { TypeScript: ['mts', 'ts'] }, // the templates have types, which no JavaScript file may hold
  });
  if (target === undefined) return undefined;
  const source = vscode.Uri.joinPath(extension, 'media', 'flowTemplates', `${template.file}.mts`);
  await vscode.workspace.fs.copy(source, target, { overwrite: true }); // the dialog has asked
  const document = await vscode.workspace.openTextDocument(target);
  await vscode.window.showTextDocument(document);
  return document;
}
