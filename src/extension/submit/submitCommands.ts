import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { submit } from './submit.ts';
import { readSubmitArguments } from './submitArguments.ts';
import { pickProfile } from './submitProfile.ts';
import { chooseFolder, requireTrust } from '../workspace/folders.ts';
import { openInTour, openSample } from '../workspace/folderTour.ts';
import { freeName } from '../workspace/freeName.ts';
import { openWalkthrough } from '../workspace/walkthrough.ts';
import type { Commands } from '../contributions/commands.ts';
import { jobCommand, type JobFinder } from '../jobs/list/jobCommand.ts';
import { submitAgain } from './resubmit.ts';
import type { SubmitDeps } from './submitDeps.ts';

interface SubmitCommandDeps extends SubmitDeps {
  readonly context: vscode.ExtensionContext;
  readonly jobs: JobFinder;
}

export function submitCommands(deps: SubmitCommandDeps): Commands<'submit'> {
  const { extension, extensionUri, globalState } = deps.context;
  return {
    'farwharf.openWalkthrough': () => openWalkthrough(extension.id),
    /** Asks where, copies the quickstart example there, and opens the copy. Returns its path, or undefined if the user cancelled. */
    'farwharf.createSampleFolder': async () => {
      const parent = await pickFolder(l10n.t('Create Sample Folder'), l10n.t('Create Here'));
      if (parent === undefined) return undefined;
      const folder = await freeName(parent, 'farwharf-sample');
      await vscode.workspace.fs.copy(vscode.Uri.joinPath(extensionUri, 'examples', 'quickstart'), folder);
      await openSample(folder, globalState);
      return folder.fsPath;
    },
    /** Opens a folder in this window, which then continues the walkthrough. */
    'farwharf.openOwnFolder': async () => {
      const title = l10n.t('Open Folder');
      const folder = await pickFolder(title, title);
      if (folder !== undefined) await openInTour(folder, 'submit', globalState, { forceNewWindow: false });
    },
    'farwharf.submitWorkspace': (argument) => submit(deps, readSubmitArguments(withoutFile(argument))),
    'farwharf.submitFile': (argument) =>
      submit(deps, readSubmitArguments(fileOfNotebook(argument) ?? argument ?? openFile())),
    /** Submits a job of a folder's `farwharf.json`, which the argument names or the user picks. */
    'farwharf.submitProfile': async (argument) => {
      const named = readSubmitArguments(argument);
      requireTrust();
      const folder = await chooseFolder(named, l10n.t('Submit Profile'));
      const profile = folder && (named.profile ?? (await pickProfile(folder)));
      return profile === undefined ? undefined : submit(deps, { ...named, folder: folder?.uri.fsPath, profile });
    },
    'farwharf.resubmitJob': jobCommand(deps.jobs, {
      title: l10n.t('Submit Again'),
      run: (record) => submitAgain(deps, record),
    }),
    'farwharf.returnToSubmit': () => deps.files.close(),
    'farwharf.openIgnoreRule': (argument) => deps.files.openRule(argument),
  };
}

/** The file of the notebook in whose toolbar a command was chosen. */
function fileOfNotebook(argument: unknown): unknown {
  const { notebookEditor } = (argument ?? {}) as { notebookEditor?: { notebookUri?: unknown } };
  return notebookEditor?.notebookUri;
}

/** A cell of a notebook is an editor too, but not a file. */
function openFile(): vscode.Uri | undefined {
  const { activeNotebookEditor, activeTextEditor } = vscode.window;
  return activeNotebookEditor?.notebook.uri ?? activeTextEditor?.document.uri;
}

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
