import { isActive } from '../../../jobs/ledger/record.ts';
import { cancelJob as cancel } from '../../jobList/cancelJob.ts';
import { jobCommand } from './jobCommand.ts';

export const cancelJob = jobCommand({
  title: 'Cancel Job',
  fits: isActive,
  run: ({ services }, record) => cancel(services, record),
});
