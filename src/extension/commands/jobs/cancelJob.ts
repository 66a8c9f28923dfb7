import * as l10n from '@vscode/l10n';
import { plural } from '../../../core/text/format.ts';
import { isActive } from '../../../jobs/ledger/record.ts';
import { cancelFailures, cancelJob as cancel } from '../../jobList/cancelJob.ts';
import { askModal } from '../../ui/show.ts';
import { forEachJob } from '../../jobList/forEachJob.ts';
import { jobsCommand } from './jobCommand.ts';

export const cancelJob = jobsCommand({
  title: l10n.t('Cancel Job'),
  only: { fits: isActive, none: l10n.t('No job is queued or running, so there is nothing to cancel.') },
  async run({ services }, records) {
    const [only] = records;
    if (only !== undefined && records.length === 1) return cancel(services, only);
    const active = records.filter(isActive);
    const question = plural(active.length, l10n.t('Cancel 1 job?'), l10n.t('Cancel {0} jobs?'));
    const detail = l10n.t('You pay for the time that they ran. Their results so far can still be downloaded.');
    if (
      active.length > 0 &&
      (await askModal(question, { detail, isWarning: true }, l10n.t('Cancel Jobs'))) === undefined
    )
      return;
    await forEachJob(active, cancelFailures, (record) => cancel(services, record));
  },
});
