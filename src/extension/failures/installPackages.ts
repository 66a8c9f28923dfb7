import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { MissingPackages } from '../../jobs/failure/missingPackages.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { diskFolders, requireTrust } from '../workspace/folders.ts';

/** Whether this window can add the packages to their list and submit the folder again. */
export function canInstall({ folder }: JobRecord, missing: MissingPackages | undefined): missing is MissingPackages {
  return missing?.tool === undefined && missing !== undefined && diskFolders().some(({ uri }) => uri.fsPath === folder);
}

/** The label of a button that calls `installPackages`. */
export function installTitle({ list }: MissingPackages): string {
  return l10n.t('Add to {0} and Submit Again', basename(list));
}

/** Adds packages to the list in the folder of a job, and offers to submit the folder as it is then. */
export async function installPackages(record: JobRecord, { names, list }: MissingPackages): Promise<void> {
  requireTrust();
  const { folder, script, maxRuntime } = record;
  await addLines(vscode.Uri.file(join(folder, list)), names);
  const wanted = { folder, script, maxRuntime, packages: list, lookFirst: true };
  await vscode.commands.executeCommand('farwharf.submitWorkspace', wanted);
}

/** Adds lines at the end of a file, which is created where there is none. What the user has not saved in it stays unsaved. */
async function addLines(uri: vscode.Uri, lines: readonly string[]): Promise<void> {
  const creation = new vscode.WorkspaceEdit();
  creation.createFile(uri, { ignoreIfExists: true });
  await vscode.workspace.applyEdit(creation);
  const document = await vscode.workspace.openTextDocument(uri);
  const { isDirty } = document;
  const end = document.lineAt(document.lineCount - 1).range.end;
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, end, `${end.character > 0 ? '\n' : ''}${lines.join('\n')}\n`);
  await vscode.workspace.applyEdit(edit);
  if (!isDirty) await document.save();
}
