import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { wholeLog } from '../../jobs/logView/wholeLog.ts';
import { scriptPath, shownScript } from '../../jobs/selection/script.ts';
import { showCancellable } from '../ui/show.ts';
import type { LogDocuments } from './logDocuments.ts';

/** Saves the whole log of a job as a text file, whose path the user chooses. Returns the path; undefined if the user cancelled. */
export async function saveWholeLog(
  { logDocuments }: { readonly logDocuments: LogDocuments },
  record: JobRecord,
): Promise<string | undefined> {
  const name = `${basename(scriptPath(shownScript(record.script)))}.log`;
  const chosen = await vscode.window.showSaveDialog({
    title: l10n.t('Save Log'),
    defaultUri: vscode.Uri.file(join(record.folder, name)),
    filters: { [l10n.t('Log')]: ['log', 'txt'] },
  });
  if (chosen === undefined) return undefined;
  if (chosen.scheme !== 'file') throw new AppError('bad-input', l10n.t('Choose a file on this machine for the log.'));
  await showCancellable(l10n.t('Saving the log'), async (signal) => {
    try {
      await writeAtomically(chosen.fsPath, wholeLog(logDocuments.spool(record.id), signal), { mode: 0o666 });
    } catch (error) {
      throw diskError(error, chosen.fsPath);
    }
  });
  return chosen.fsPath;
}
