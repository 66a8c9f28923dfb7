import { submitAgain } from '../../submit/resubmit.ts';
import { jobCommand } from './jobCommand.ts';

export const resubmitJob = jobCommand({
  title: 'Submit Again',
  run: ({ services }, record) => submitAgain(services, record),
});
