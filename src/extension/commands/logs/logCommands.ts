import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { findLines } from '../../jobs/log/logSearch.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { type Command, type CommandContext, type Commands, withArgument } from '../command.ts';
import { findOrPickJob } from '../jobs/jobCommand.ts';
import { AppError } from '../../../core/errors.ts';
import { writeAtomically } from '../../../core/files/atomicFile.ts';
import { diskError } from '../../../core/files/diskSpace.ts';
import { wholeLog } from '../../../jobs/logView/viewText.ts';
import { scriptPath, shownScript } from '../../../jobs/selection/script.ts';
import { showCancellable, showInformation } from '../../ui/show.ts';
import type { LogDocuments } from '../../jobs/log/logDocuments.ts';
import { findInLog, isErrorLine } from '../../../jobs/logView/findInLog.ts';

export const logCommands = {
  'farwharf.openFullLog': logCommand({
    title: l10n.t('Open Full Log'),
    run: ({ services: { logDocuments, signal } }, record) => logDocuments.open(record, undefined, signal),
  }),
  'farwharf.findInLog': logCommand({
    title: l10n.t('Find in Log'),
    run: ({ services }, record) => findLines(services, record),
  }),
  'farwharf.showFirstError': logCommand({
    title: l10n.t('Show First Error in Log'),
    run: ({ services }, record) => openFirstError(services, record),
  }),
  'farwharf.saveLog': logCommand({
    title: l10n.t('Save Log'),
    run: ({ services }, record) => saveWholeLog(services, record),
  }),
} satisfies Commands;

/** A command on the log of one job: the one that the argument names, the one in the active editor, or one that the user picks. */
function logCommand(question: {
  readonly title: string;
  run(context: CommandContext, record: JobRecord): unknown;
}): Command {
  return withArgument(readJobArgument, async (context, name) => {
    const active = vscode.window.activeTextEditor?.document.uri;
    const shown = active && context.services.logDocuments.recordOf(active)?.id;
    const record = await findOrPickJob(context.services, name ?? shown, question);
    return record === undefined ? undefined : question.run(context, record);
  });
}

/** Saves the whole log of a job as a text file, whose path the user chooses. Returns the path; undefined if the user cancelled. */
async function saveWholeLog(
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

/** Opens a job's log at the first line that reports an error. */
async function openFirstError(
  { logDocuments }: { readonly logDocuments: LogDocuments },
  record: JobRecord,
): Promise<void> {
  const isFound = await showCancellable(l10n.t('Reading the log'), async (signal) => {
    for await (const { line } of findInLog(logDocuments.spool(record.id), isErrorLine, signal)) {
      await logDocuments.open(record, line, signal);
      return true;
    }
    return false;
  });
  if (!isFound) void showInformation(l10n.t('No line in the log of {0} reports an error.', shownScript(record.script)));
}
