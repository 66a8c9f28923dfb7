import * as l10n from '@vscode/l10n';
import { hasSucceeded, isOver } from '../../../jobs/ledger/record.ts';
import { type Commands, readDocument, withArgument } from '../command.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const failureCommands = {
  'farwharf.explainFailure': jobCommand({
    title: l10n.t('Explain This Failure'),
    only: { fits: (record) => isOver(record) && !hasSucceeded(record), none: l10n.t('No job in the list has failed.') },
    run: ({ failures }, record) => failures().show(record),
  }),
  'farwharf.askAboutFailure': withArgument(readDocument, ({ failures }, uri) => failures().ask(uri)),
  'farwharf.copyFailure': withArgument(readDocument, ({ failures }, uri) => failures().copy(uri)),
  'farwharf.stopFailureAnswer': withArgument(readDocument, ({ failures }, uri) => failures().stop(uri)),
} satisfies Commands;
