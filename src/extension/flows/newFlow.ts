import * as vscode from 'vscode';
import { AppError } from '../../core/errors.ts';
import { requireTrust } from '../workspace/folders.ts';
import { pickRow, type PickItem } from '../ui/show.ts';
import { label } from '../ui/labels.ts';

interface Template extends PickItem {
  readonly file: string;
}

const TEMPLATES: readonly Template[] = [
  {
    file: 'chat',
    label: label`Chat`,
    detail: label`Questions and answers, with retries and a fallback for when the service fails.`,
  },
  {
    file: 'research',
    label: label`Research Agent`,
    detail: label`A loop that decides when it has found enough, with a nested flow.`,
  },
  {
    file: 'mapReduce',
    label: label`Map and Reduce`,
    detail: label`Many files at once, then one result from all of them.`,
  },
  {
    file: 'askFolder',
    label: label`Ask a Folder`,
    detail: label`Retrieval: an answer from the files of a folder, with its sources.`,
  },
];

/** Creates a flow file from a template and returns its document; undefined if the user cancelled. */
export async function newFlow(extension: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  requireTrust();
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new AppError('missing', 'A new flow is a file in a folder. Open a folder first.');
  const template = await pickRow(TEMPLATES, {
    title: 'New Flow',
    placeHolder: 'Choose a template',
    matchOnDetail: true,
  });
  if (template === undefined) return undefined;
  const target = await vscode.window.showSaveDialog({
    title: 'New Flow',
    defaultUri: vscode.Uri.joinPath(folder.uri, `${template.file}.mts`),
    filters: { TypeScript: ['mts', 'ts'] }, // the templates have types, which JavaScript files cannot contain
  });
  if (target === undefined) return undefined;
  const source = vscode.Uri.joinPath(extension, 'media', 'flowTemplates', `${template.file}.mts`);
  await vscode.workspace.fs.copy(source, target, { overwrite: true }); // confirmed in the dialog
  const document = await vscode.workspace.openTextDocument(target);
  await vscode.window.showTextDocument(document);
  return document;
}
