import { formatCount } from '../../core/text/format.ts';
import { cancelSweep } from '../../jobs/sweeps/cancelSweep.ts';
import type { Context } from '../command/commandContext.ts';
import { openSweep } from './sweepJobs.ts';

/** `farwharf sweep cancel ID`: sends no more jobs and stops those that run. JSON: `{ sweep_id, cancelled }`. */
export async function cancelSweepVerb(context: Context, name: string): Promise<void> {
  const { terminal, signal } = context;
  const opened = await openSweep(context, name);
  await using session = opened.session;
  const { sweep } = opened;
  const deps = { service: session.sender(), ledger: session.asyncLedger, home: session.home };
  const cancelled = await cancelSweep(deps, sweep, signal);
  if (terminal.json({ sweep_id: sweep.id, cancelled })) return;
  terminal.answer(`Sweep ${sweep.name} was cancelled. ${formatCount(cancelled, 'job was', 'jobs were')} stopped.`);
}
