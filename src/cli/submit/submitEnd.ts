import { AppError } from '../../core/errors.ts';
import { describeOutcome } from '../../jobs/report/describeJob.ts';
import type { DownloadedResults } from '../../jobs/results/placeFiles.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { describeEnd, exitOfWatched, type FinishedJob, showLog, noteDetached, noteMissing } from '../jobs/watch.ts';
import type { JobPlace } from '../command/jobPlace.ts';
import { downloadInto, describeReplaced, describeResults, resultsAsJson } from '../jobs/jobResults.ts';
import type { Session } from '../command/session.ts';
import type { SubmitFlags } from './submitFlags.ts';

type Place = Pick<JobPlace, 'record' | 'ledger' | 'home'>;

/** A submit that was accepted. */
export interface Sent {
  readonly session: Session;
  readonly context: Context;
  readonly flags: SubmitFlags;
}

/** Watches the job and downloads its results, as the flags ask. JSON: one object at the end; with `--watch`, a line for the receipt and for each event before it. */
export async function finishSubmit(record: JobPlace['record'], receipt: object, sent: Sent): Promise<number> {
  const { session, context, flags } = sent;
  const { terminal } = context;
  const { jobId } = record;
  if (!flags.watch && !flags.download) {
    if (!terminal.json(receipt)) terminal.answer(jobId);
    return EXIT.done;
  }
  if (flags.watch) terminal.json(receipt);
  const place = { record, ledger: session.asyncLedger, home: session.home };
  // Results are downloaded even if the reader of the log exits.
  const signal = flags.download ? context.signal : context.outputSignal;
  const options = { isQuiet: !flags.watch, isJustSent: true };
  const watched = await showLog(place, session, { ...context, signal }, options);
  if (watched.type === 'detached') {
    noteDetached(terminal, jobId);
    return exitOfWatched(watched);
  }
  const { state, exitCode, reason, creditsCharged } = watched.record;
  const outcome = { ...receipt, state, exit_code: exitCode, reason, credits_charged: creditsCharged };
  if (!flags.download) {
    terminal.json(outcome);
    terminal.note(describeEnd(watched, jobId));
    await noteMissing(watched, place.home, context);
    return exitOfWatched(watched);
  }
  const results = await downloadAfterEnd(place, sent, watched);
  terminal.json({ ...outcome, results: results === undefined ? null : resultsAsJson(results) });
  for (const line of results === undefined ? [] : describeResults(results)) terminal.note(line);
  for (const line of results === undefined ? [] : describeReplaced(results, place.record.jobId)) terminal.note(line);
  terminal.note(describeOutcome(watched.record, results?.plan.length ? `results in ${results.folder}` : undefined));
  await noteMissing(watched, place.home, context);
  return exitOfWatched(watched);
}

/** The results; undefined, with a note, when there are none. The outcome of the job is shown even if the download fails. */
async function downloadAfterEnd(
  place: Place,
  { session, context, flags }: Sent,
  ended: FinishedJob,
): Promise<DownloadedResults | undefined> {
  try {
    return await downloadInto(place, await session.client(), context, {
      folder: () => resultsFolderOf(ended.record),
      onConflict: flags.onConflict,
    });
  } catch (error) {
    if (error instanceof AppError && error.code === 'missing') {
      context.terminal.note(ended.record.reason === null ? 'The job produced no results.' : error.message);
      return undefined;
    }
    context.terminal.note(describeEnd(ended, place.record.jobId));
    throw error;
  }
}
