import * as l10n from '@vscode/l10n';
import { isWaiting } from '../../../jobs/ledger/record.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const answerJob = jobCommand({
  title: l10n.t('Answer Job'),
  fits: isWaiting,
  run: ({ flows }, record) => flows().jobAnswers.ask(record),
});
