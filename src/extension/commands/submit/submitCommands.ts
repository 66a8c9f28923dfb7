import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { submit } from '../../submit/submit.ts';
import { readSubmitArguments } from '../../submit/submitArguments.ts';
import { pickProfile } from '../../submit/submitProfile.ts';
import { chooseFolder, requireTrust } from '../../workspace/folders.ts';
import { openInTour, openSample } from '../../workspace/folderTour.ts';
import { freeName } from '../../workspace/freeName.ts';
import { openWalkthrough } from '../../workspace/walkthrough.ts';
import { type Commands, withArgument } from '../command.ts';

export const submitCommands = {
  'farwharf.openWalkthrough': ({ extensionId }) => openWalkthrough(extensionId),
  /** Asks where, copies the quickstart example there, and opens the copy. Returns its path, or undefined if the user cancelled. */
  'farwharf.createSampleFolder': async ({ extensionUri, globalState }) => {
    const parent = await pickFolder(l10n.t('Create Sample Folder'), l10n.t('Create Here'));
    if (parent === undefined) return undefined;
    const folder = await freeName(parent, 'farwharf-sample');
    await vscode.workspace.fs.copy(vscode.Uri.joinPath(extensionUri, 'examples', 'quickstart'), folder);
    await openSample(folder, globalState);
    return folder.fsPath;
  },
  /** Opens a folder in this window, which then continues the walkthrough. */
  'farwharf.openOwnFolder': async ({ globalState }) => {
    const title = l10n.t('Open Folder');
    const folder = await pickFolder(title, title);
    if (folder !== undefined) await openInTour(folder, 'submit', globalState, { forceNewWindow: false });
  },
  'farwharf.submitWorkspace': withArgument(
    (argument) => readSubmitArguments(withoutFile(argument)),
    ({ services }, asked) => submit(services, asked),
  ),
  'farwharf.submitFile': withArgument(
    (argument) => readSubmitArguments(argument ?? vscode.window.activeTextEditor?.document.uri),
    ({ services }, asked) => submit(services, asked),
  ),
  /** Submits a job of a folder's `farwharf.json`, which the argument names or the user picks. */
  'farwharf.submitProfile': withArgument(readSubmitArguments, async ({ services }, asked) => {
    requireTrust();
    const folder = await chooseFolder(asked, l10n.t('Submit Profile'));
    const profile = folder && (asked.profile ?? (await pickProfile(folder)));
    return profile === undefined ? undefined : submit(services, { ...asked, folder: folder?.uri.fsPath, profile });
  }),
  'farwharf.returnToSubmit': ({ services }) => services.files.close(),
  'farwharf.openIgnoreRule': ({ services }, argument) => services.files.openRule(argument),
} satisfies Commands;

async function pickFolder(title: string, openLabel: string): Promise<vscode.Uri | undefined> {
  const options = { title, openLabel, canSelectFiles: false, canSelectFolders: true };
  return (await vscode.window.showOpenDialog(options))?.[0];
}

/** A menu passes the resource under the pointer, which names the folder but not the script. */
function withoutFile(argument: unknown): unknown {
  if (!(argument instanceof vscode.Uri)) return argument;
  const folder = vscode.workspace.getWorkspaceFolder(argument);
  return folder === undefined ? undefined : { folder: folder.uri.fsPath };
}
