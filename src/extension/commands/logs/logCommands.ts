import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { openFirstError } from '../../logs/firstError.ts';
import { findLines } from '../../logs/logSearch.ts';
import { saveWholeLog } from '../../logs/saveLog.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { type Command, type CommandContext, type Commands, withArgument } from '../command.ts';
import { findOrPickJob } from '../jobs/jobCommand.ts';

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
