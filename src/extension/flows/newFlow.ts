import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { exists, freeName } from '../workspace/freeName.ts';
import { requireTrust } from '../workspace/folders.ts';
import { pickRow, type PickItem } from '../ui/show.ts';
import { label } from '../ui/labels.ts';
import { withOwnModel } from './templateText.ts';

interface Template extends PickItem {
  readonly file: string;
}

const TEMPLATES: readonly Template[] = [
  {
    file: 'chat',
    label: label`${l10n.t('Chat')}`,
    detail: label`${l10n.t('Questions and answers, with retries and a fallback for when the service fails.')}`,
  },
  {
    file: 'research',
    label: label`${l10n.t('Research Agent')}`,
    detail: label`${l10n.t('A loop that decides when it has found enough, with a nested flow.')}`,
  },
  {
    file: 'mapReduce',
    label: label`${l10n.t('Map and Reduce')}`,
    detail: label`${l10n.t('Many files at once, then one result from all of them.')}`,
  },
  {
    file: 'askFolder',
    label: label`${l10n.t('Ask a Folder')}`,
    detail: label`${l10n.t('Retrieval: an answer from the files of a folder, with its sources.')}`,
  },
];

interface OwnModel extends PickItem {
  readonly file?: undefined;
}

/** How a new flow gets its model. */
export interface FlowModels {
  /** The name of the selected model; undefined if none is selected. */
  selected(): Promise<string | undefined>;
  /** Lets the user select one. False if the user cancelled. */
  select(): Promise<boolean>;
}

/**
 * Creates a flow file from a template and returns its document; undefined if the user cancelled. Its model has recorded replies,
 * so that it runs at once, unless the user chooses their own.
 */
export async function newFlow(extension: vscode.Uri, models: FlowModels): Promise<vscode.TextDocument | undefined> {
  requireTrust();
  const folder = await folderForFlow();
  if (folder === undefined)
    throw new AppError('no-folder', l10n.t('A new flow is a file in a folder. Open a folder first.'));
  const chosen = await pickTemplate(models);
  if (chosen === undefined) return undefined;
  const { template, hasOwnModel } = chosen;
  const target = await vscode.window.showSaveDialog({
    title: l10n.t('New Flow'),
    defaultUri: await freeName(folder.uri, template.file, '.mts'),
    filters: { TypeScript: ['mts', 'ts'] }, // the templates have types, which JavaScript files cannot contain
  });
  if (target === undefined) return undefined;
  const source = vscode.Uri.joinPath(extension, 'media', 'flowTemplates', `${template.file}.mts`);
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(source));
  const bytes = new TextEncoder().encode(hasOwnModel ? withOwnModel(text) : text);
  await vscode.workspace.fs.writeFile(target, bytes); // overwriting was confirmed in the dialog
  return (await vscode.window.showTextDocument(target)).document;
}

/** The folder of the active editor, else the first one that exists; a folder of the workspace may have been deleted. */
async function folderForFlow(): Promise<vscode.WorkspaceFolder | undefined> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const activeFolder = active && vscode.workspace.getWorkspaceFolder(active);
  const folders = vscode.workspace.workspaceFolders ?? [];
  for (const folder of activeFolder === undefined ? folders : [activeFolder, ...folders])
    if (await exists(folder.uri)) return folder;
  return folders[0];
}

async function pickTemplate(
  models: FlowModels,
): Promise<{ readonly template: Template; readonly hasOwnModel: boolean } | undefined> {
  const separator = { label: label`${l10n.t('model')}`, kind: vscode.QuickPickItemKind.Separator };
  const own: OwnModel = {
    label: label`$(sparkle) ${l10n.t('Use your own model')}`,
    description: label`${(await models.selected()) ?? l10n.t('select one first')}`,
    alwaysShow: true,
  };
  const first = await pickRow<Template | OwnModel>([...TEMPLATES, separator, own], {
    title: l10n.t('New Flow'),
    placeHolder: l10n.t('Choose a template. It has recorded replies, so it runs without a key.'),
    matchOnDetail: true,
  });
  if (first === undefined) return undefined;
  if (first.file !== undefined) return { template: first, hasOwnModel: false };
  const name = (await models.selected()) ?? ((await models.select()) ? await models.selected() : undefined);
  if (name === undefined) return undefined;
  const template = await pickRow(TEMPLATES, {
    title: l10n.t('New Flow'),
    placeHolder: l10n.t('Choose a template. It will use {0}.', name),
    matchOnDetail: true,
  });
  return template && { template, hasOwnModel: true };
}
