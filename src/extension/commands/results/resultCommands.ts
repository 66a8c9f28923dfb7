import * as l10n from '@vscode/l10n';
import { isOver } from '../../../jobs/ledger/record.ts';
import { browseResults, compareResult, saveResults } from '../../results/browseResults.ts';
import type { Commands } from '../command.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const resultCommands = {
  'farwharf.browseResults': jobCommand({
    title: l10n.t('Browse Results'),
    only: { fits: isOver, none: l10n.t('No job has ended yet. The results of a job are available once it ends.') },
    run: ({ services }, record) => browseResults(services, record),
  }),
  'farwharf.saveResults': ({ services }, argument) => saveResults(services, argument),
  'farwharf.compareResult': ({ services }, argument) => compareResult(services, argument),
  'farwharf.closeResults': ({ services }) => services.resultsView.close(),
} satisfies Commands;
