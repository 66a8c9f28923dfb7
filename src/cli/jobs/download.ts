import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import type { Context } from '../command/context.ts';
import { findJobPlace } from '../session/jobPlace.ts';
import type { ConflictChoice } from './conflictFlag.ts';
import { downloadInto, describeResults, resultsAsJson } from './results.ts';
import { Session } from '../session/session.ts';

/** `farwharf download ID`: a job's results, or some of them, into the folder that was sent or into another one. */
export async function download(
  context: Context,
  name: string,
  {
    into,
    only,
    onConflict,
    maxSize,
  }: {
    readonly into?: string;
    readonly only?: readonly string[] | undefined;
    readonly onConflict: ConflictChoice;
    readonly maxSize: number;
  },
): Promise<void> {
  await using session = new Session(context);
  const { terminal, cwd, signal } = context;
  const client = await session.client();
  await using place = await findJobPlace(session, name, signal);
  if (into === undefined && !place.isOwn) {
    throw new AppError(
      'bad-input',
      `Job ${name} was not sent from this machine, so its folder is unknown. Specify a folder with --into DIR.`,
    );
  }
  const folder = into === undefined ? () => resultsFolderOf(place.record) : resolve(cwd, into);
  const results = await downloadInto(place, client, context, { folder, onConflict, only, maxSize });
  terminal.json({ job_id: place.record.jobId, ...resultsAsJson(results) });
  for (const line of describeResults(results)) terminal.note(line);
}
