import { isWaiting } from '../../../jobs/ledger/record.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const answerJob = jobCommand({
  title: 'Answer Job',
  fits: isWaiting,
  run: ({ flows }, record) => flows().jobAnswers.ask(record),
});
