import * as l10n from '@vscode/l10n';
import { hasSucceeded, isOver } from '../../../jobs/ledger/record.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const explainFailure = jobCommand({
  title: l10n.t('Explain This Failure'),
  fits: (record) => isOver(record) && !hasSucceeded(record),
  run: ({ failures }, record) => failures().show(record),
});
