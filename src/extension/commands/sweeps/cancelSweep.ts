import * as l10n from '@vscode/l10n';
import { formatInteger } from '../../../core/text/format.ts';
import { countJobs } from '../../../jobs/sweeps/sweepProgress.ts';
import { askModal } from '../../ui/show.ts';
import { sweepCommand } from './sweepCommand.ts';

/** Stops all jobs of a sweep and sends no more, once the user has confirmed it. */
export const cancelSweep = sweepCommand(l10n.t('Cancel Sweep'), async ({ services }, sweep) => {
  const { ledger, signal, sweeps } = services;
  const records = await ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
  const { unfinished, unsent } = countJobs(sweep.drafts.length, records, Date.now());
  const detail =
    unfinished === 1
      ? l10n.t('1 job will be stopped, and {0} will not be sent. You pay for the time that they ran.', unsent)
      : l10n.t(
          '{1} jobs will be stopped, and {0} will not be sent. You pay for the time that they ran.',
          unsent,
          formatInteger(unfinished),
        );
  const cancel = l10n.t('Cancel All');
  if ((await askModal(l10n.t('Cancel sweep {0}?', sweep.name), { detail, isWarning: true }, cancel)) !== cancel)
    return undefined;
  return sweeps.cancel(sweep, signal);
});
