import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { freeName } from '../../workspace/freeName.ts';
import { openSample } from '../../workspace/folderTour.ts';
import type { Command } from '../command.ts';

/** Asks where, copies the quickstart example there, and opens the copy. Returns its path, or undefined if the user cancelled. */
export const createSampleFolder: Command = async ({ extensionUri, globalState }) => {
  const [parent] =
    (await vscode.window.showOpenDialog({
      title: l10n.t('Create Sample Folder'),
      openLabel: l10n.t('Create Here'),
      canSelectFiles: false,
      canSelectFolders: true,
    })) ?? [];
  if (parent === undefined) return undefined;
  const folder = await freeName(parent, 'farwharf-sample');
  await vscode.workspace.fs.copy(vscode.Uri.joinPath(extensionUri, 'examples', 'quickstart'), folder);
  await openSample(folder, globalState);
  return folder.fsPath;
};
