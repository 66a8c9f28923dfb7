import { hasSucceeded, isOver } from '../../../jobs/ledger/record.ts';
import { jobCommand } from '../jobs/jobCommand.ts';

export const explainFailure = jobCommand({
  title: 'Explain This Failure',
  fits: (record) => isOver(record) && !hasSucceeded(record),
  run: ({ failures }, record) => failures().show(record),
});
