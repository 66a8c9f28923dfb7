import { formatCount } from '../../../core/text/format.ts';
import { isActive } from '../../../jobs/ledger/record.ts';
import { cancelJob as cancel } from '../../jobList/cancelJob.ts';
import { askModal } from '../../ui/show.ts';
import { forEachJob } from '../../jobList/forEachJob.ts';
import { jobsCommand } from './jobCommand.ts';

export const cancelJob = jobsCommand({
  title: 'Cancel Job',
  fits: isActive,
  async run({ services }, records) {
    const [only] = records;
    if (only !== undefined && records.length === 1) return cancel(services, only);
    const active = records.filter(isActive);
    const question = `Cancel ${formatCount(active.length, 'job')}?`;
    const detail = 'You pay for the time that they ran. Their results so far can still be downloaded.';
    if (active.length > 0 && (await askModal(question, { detail, isWarning: true }, 'Cancel Jobs')) === undefined)
      return;
    await forEachJob(active, 'cancelled', (record) => cancel(services, record));
  },
});
