import * as vscode from 'vscode';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { type Command, type CommandContext, withArgument } from '../command.ts';
import { findOrPickJob } from '../jobs/jobCommand.ts';

/** A command on the log of one job: the one that the argument names, the one in the active editor, or one that the user picks. */
export function logCommand(question: {
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
