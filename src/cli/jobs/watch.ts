import { describeJob, describeOutcome, describeResultCount } from '../../jobs/report/describeJob.ts';
import { ContactWatch } from '../../jobs/service/contactWatch.ts';
import { watchJob } from '../../jobs/log/follow.ts';
import { hasSucceeded, type JobRecord } from '../../jobs/ledger/record.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import { lastLines } from '../../jobs/log/lastLines.ts';
import { describeMissing, installLine, missingPackages } from '../../jobs/failure/missingPackages.ts';
import { startedNotebook } from '../../jobs/selection/script.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { ResultCounter } from '../../jobs/log/resultCounter.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { findJobPlace, type JobPlace } from '../command/jobPlace.ts';
import { LogPrinter } from '../terminal/logPrinter.ts';
import { Session, SLOW_MS } from '../command/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { jobArgument } from '../command/jobArgument.ts';

/** The outcome of watching: the job ended, or the user stopped watching and the job continues. */
export type Watched = FinishedJob | { readonly type: 'detached' };

export interface FinishedJob {
  readonly type: 'over';
  readonly record: JobRecord;
}

interface LogOptions {
  /** Shows only a status line. */
  readonly isQuiet?: boolean;
  /** Omits the lines about packing and upload, which were already shown. */
  readonly isJustSent?: boolean;
}

/**
 * Shows a job's events until it ends. Its output goes to stdout and stderr as the job wrote it, or as JSON lines.
 * Ctrl+C detaches: the job continues.
 */
export async function showLog(
  place: Pick<JobPlace, 'record' | 'ledger' | 'home'>,
  session: Session,
  { signal, terminal }: Context,
  { isQuiet = false, isJustSent = false }: LogOptions = {},
): Promise<Watched> {
  const { record, ledger, home } = place;
  const log = new LogPrinter(terminal, record.machineClass);
  const spool = new EventSpool(home, record.id);
  const results = new ResultCounter(home);
  const deps = { service: await session.client(), ledger, spool, results, reconnect: () => session.reconnect() };
  const onUpdate = (current: JobRecord): void => {
    if (isQuiet) terminal.status(describeJob(current, Date.now()));
  };
  const onContact = (isReachable: boolean): void => (isReachable ? session.contact.returned() : session.contact.lost());
  const contact = new ContactWatch({
    quietMs: SLOW_MS,
    responseSeconds: SLOW_MS / 1_000,
    ask: async (options) => (await session.client()).getJob(record.jobId, options),
    onContact,
  });
  try {
    const events = watchJob(deps, record.id, { signal, onUpdate, onContact, contact });
    for (;;) {
      const next = await events.next();
      if (next.done === true) return { type: 'over', record: next.value };
      contact.noteEvent();
      const isShownAlready = isJustSent && next.value.own === true && next.value.event === 'phase';
      if (!isQuiet && !isShownAlready) log.print(next.value);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return { type: 'detached' };
  } finally {
    contact.dispose();
    log.flush();
    terminal.clearStatus();
  }
}

/** Notes how to install the packages that a job lacked. */
export async function noteMissing(
  { record }: FinishedJob,
  home: string,
  { terminal, cwd }: Pick<Context, 'terminal' | 'cwd'>,
): Promise<void> {
  if (hasSucceeded(record) || startedNotebook(record) === undefined) return;
  const missing = missingPackages(record, await lastLines(new EventSpool(home, record.id)));
  if (missing === undefined) return;
  terminal.note(`${describeMissing(missing)} Install them and run it again:`);
  const move = record.folder === cwd ? '' : `cd ${shellWord(record.folder)} && `;
  terminal.note(`  ${move}${installLine(record, missing)}`);
}

/** The last line of a log: how the job ended, and how to download its results. */
export function describeEnd({ record }: FinishedJob, jobId: string): string {
  const results = describeResultCount(record) ?? 'results';
  return describeOutcome(
    record,
    record.results?.files === 0 ? results : `${results}: farwharf download ${jobArgument(jobId)}`,
  );
}

/** Reminds a user who stopped watching how to continue. */
export function noteDetached(terminal: Terminal, jobId: string): void {
  terminal.json({ event: 'detached', data: { job_id: jobId } });
  terminal.note(`Stopped watching. Job ${jobId} continues to run.`);
  terminal.note(`  watch again:  farwharf watch ${jobArgument(jobId)}`);
  terminal.note(`  stop the job: farwharf cancel ${jobArgument(jobId)}`);
}

/** The exit status for a job that ended, or that is no longer watched. */
export function exitOfWatched(watched: Watched): number {
  if (watched.type === 'detached') return EXIT.interrupted;
  return hasSucceeded(watched.record) ? EXIT.done : EXIT.failed;
}

/** `farwharf watch ID`: shows the log live until the job ends. JSON: a line for each event. */
export async function watch(context: Context, name: string): Promise<number> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  await using place = await findJobPlace(session, name, signal);
  const { jobId } = place.record;
  const watched = await showLog(place, session, { ...context, signal: context.outputSignal });
  if (watched.type === 'detached') noteDetached(terminal, jobId);
  else {
    terminal.note(describeEnd(watched, jobId));
    await noteMissing(watched, place.home, context);
  }
  return exitOfWatched(watched);
}
