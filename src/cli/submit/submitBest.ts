import { describeParameters } from '../../jobs/ledger/parameters.ts';
import { bestRow, sweepRows } from '../../jobs/sweeps/sweepTable.ts';
import type { FlagValues } from '../command/flags.ts';
import type { Context } from '../command/commandContext.ts';
import { readParameter } from '../sweeps/parameterFlag.ts';
import { runSubmit } from './submit.ts';
import { openSweep, readSweepJobs } from '../sweeps/sweepJobs.ts';
import type { BEST_FLAGS } from '../sweeps/bestFlags.ts';

/** `farwharf sweep best ID`: submits the best job's profile with its parameters, and with changes, from the folder as it is now. */
export async function submitBest(
  context: Context,
  name: string,
  flags: FlagValues<typeof BEST_FLAGS>,
): Promise<number> {
  const { terminal } = context;
  const { by, highest, set = [], ...terms } = flags;
  const opened = await openSweep(context, name);
  await using session = opened.session;
  const { sweep } = opened;
  const { records, metricsOf } = await readSweepJobs(session, context, sweep);
  const best = bestRow(sweepRows(sweep, records, metricsOf), { metric: by, isHighest: highest });
  const changed = { ...best.parameters, ...Object.fromEntries(set.map(readParameter)) };
  const value = best.metrics.get(by)?.last;
  terminal.note(`The best job of ${sweep.name} has ${by} ${value}: ${describeParameters(best.parameters)}`);
  return await runSubmit({ ...context, remote: sweep.host }, sweep.folder, {
    ...terms,
    profile: sweep.name,
    set: Object.entries(changed).map(([parameter, each]) => `${parameter}=${each}`),
    onConflict: 'keep-both',
    again: false,
    rehash: false,
    debug: false,
    holdAtLimit: false,
  });
}
