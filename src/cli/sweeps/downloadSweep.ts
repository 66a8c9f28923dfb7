import { resolve } from 'node:path';
import { surveyJobs } from '../../jobs/sweeps/surveyJobs.ts';
import type { Context } from '../command/commandContext.ts';
import type { ConflictChoice } from '../command/flags.ts';
import { openSweep } from './sweepJobs.ts';
import { downloadSweepResults } from './sweepResults.ts';

interface DownloadFlags {
  readonly into?: string;
  readonly onConflict: ConflictChoice;
}

/** `farwharf sweep download ID`: the results of its jobs that are not here yet. JSON: `{ sweep_id, jobs }`. */
export async function downloadSweep(
  context: Context,
  name: string,
  { into, onConflict }: DownloadFlags,
): Promise<number> {
  const opened = await openSweep(context, name);
  await using session = opened.session;
  const { sweep } = opened;
  const deps = { service: session.sender(), ledger: session.asyncLedger };
  const records = await surveyJobs(deps, sweep.id, context.signal);
  const options = { onConflict, into: into === undefined ? undefined : resolve(context.cwd, into) };
  const { jobs, exit } = await downloadSweepResults(session, context, { sweep, records }, options);
  context.terminal.json({ sweep_id: sweep.id, jobs });
  return exit;
}
