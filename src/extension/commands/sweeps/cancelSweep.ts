import { formatCount } from '../../../core/text/format.ts';
import { countJobs } from '../../../jobs/sweeps/sweepProgress.ts';
import { askModal } from '../../ui/show.ts';
import { sweepCommand } from './sweepCommand.ts';

/** Stops all jobs of a sweep and sends no more, once the user has confirmed it. */
export const cancelSweep = sweepCommand('Cancel Sweep', async ({ services }, sweep) => {
  const { ledger, signal, sweeps } = services;
  const records = await ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
  const { unfinished, unsent } = countJobs(sweep.drafts.length, records, Date.now());
  const detail = `${formatCount(unfinished, 'job')} will be stopped, and ${unsent} will not be sent. You pay for the time that they ran.`;
  const cancel = 'Cancel All';
  if ((await askModal(`Cancel sweep ${sweep.name}?`, { detail, isWarning: true }, cancel)) !== cancel) return undefined;
  return sweeps.cancel(sweep, signal);
});
