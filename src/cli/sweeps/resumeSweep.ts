import { AppError } from '../../core/errors.ts';
import { checkCostLimit } from '../../jobs/sweeps/sweep.ts';
import { SweepStore } from '../../jobs/sweeps/sweepStore.ts';
import type { Context } from '../command/commandContext.ts';
import { runSweep } from './runSweep.ts';
import { openSweep } from './sweepJobs.ts';

interface ResumeFlags {
  readonly maxCost?: number;
  readonly watch: boolean;
}

/** `farwharf sweep resume ID`: sends the jobs that do not exist yet. @throws AppError `conflict` for a sweep that was cancelled. */
export async function resumeSweep(context: Context, name: string, { maxCost, watch }: ResumeFlags): Promise<number> {
  const opened = await openSweep(context, name);
  await using session = opened.session;
  const sweep = maxCost === undefined ? opened.sweep : { ...opened.sweep, maxCost };
  if (sweep.isCancelled) {
    throw new AppError(
      'conflict',
      `Sweep ${sweep.name} was cancelled, so no more of its jobs are sent. Submit it again.`,
    );
  }
  checkCostLimit(sweep);
  if (maxCost !== undefined) await new SweepStore(session.home).write(sweep);
  return await runSweep(session, context, sweep, { watch });
}
