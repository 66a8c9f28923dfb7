import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { openInTour } from '../../workspace/folderTour.ts';
import type { Command } from '../command.ts';

/** Opens a folder in this window, which then continues the walkthrough. */
export const openOwnFolder: Command = async ({ globalState }) => {
  const title = l10n.t('Open Folder');
  const [folder] =
    (await vscode.window.showOpenDialog({ title, openLabel: title, canSelectFiles: false, canSelectFolders: true })) ??
    [];
  if (folder !== undefined) await openInTour(folder, 'submit', globalState, { forceNewWindow: false });
};
