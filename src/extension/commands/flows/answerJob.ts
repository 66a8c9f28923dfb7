import * as l10n from '@vscode/l10n';
import { isWaiting } from '../../../jobs/ledger/record.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const answerJob = jobCommand({
  title: l10n.t('Answer Job'),
  only: { fits: isWaiting, none: l10n.t('No job waits for an answer.') },
  run: ({ flows }, record) => flows().jobAnswers.ask(record),
});
