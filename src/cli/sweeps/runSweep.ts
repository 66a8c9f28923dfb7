import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { describeParameters } from '../../jobs/ledger/parameters.ts';
import { hasSucceeded, isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { mayBeRetried, sendSweep, type SweepEnd, type SweepPhase } from '../../jobs/sweeps/sendSweep.ts';
import { type SurveyDeps, surveyJobs } from '../../jobs/sweeps/surveyJobs.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import { countJobs, describeCounts } from '../../jobs/sweeps/sweepProgress.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import type { ConflictChoice } from '../command/flags.ts';
import type { Session } from '../command/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortSweepId } from './shortSweepId.ts';
import { sweepAsJson } from './sweepJson.ts';
import { downloadSweepResults } from './sweepResults.ts';

const POLL_MS = 2_000;

export interface RunSweepOptions {
  /** Waits until all jobs have ended. */
  readonly watch: boolean;
  /** Waits too, and then downloads the results of all jobs. */
  readonly download?: ConflictChoice | undefined;
  /** Called when the next job is sent only after others have ended, with what was sent until then. */
  readonly onWait?: ((sweep: Sweep, records: readonly JobRecord[]) => void) | undefined;
}

/**
 * Sends the jobs of a sweep that were not sent yet. JSON: the sweep, at the end, with the results of each job that were downloaded.
 *
 * @returns the exit status: if it waited, whether all jobs succeeded and their results were downloaded.
 * @throws as `sendSweep` does, after a note that says how to continue.
 */
export async function runSweep(
  session: Session,
  context: Context,
  sweep: Sweep,
  { watch, download, onWait }: RunSweepOptions,
): Promise<number> {
  const { signal, terminal } = context;
  const service = session.sender();
  const deps = { service, ledger: session.asyncLedger, home: session.home };
  const report = reportPhases(sweep, context);
  const onPhase = (phase: SweepPhase): void => {
    report(phase);
    if (phase.type === 'wait') onWait?.(sweep, phase.records);
  };
  let end: SweepEnd;
  try {
    end = await sendSweep(deps, sweep, { signal, onPhase });
  } catch (error) {
    const begun = session.ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
    for (const line of describeBegun(sweep, begun)) terminal.note(line);
    throw error;
  }
  terminal.clearStatus();
  for (const line of describeSweepEnd(sweep, end)) terminal.note(line);
  const isWaiting = watch || download !== undefined;
  const watched = isWaiting ? await waitForAll(session, context, sweep, end.records) : undefined;
  const { records } = watched ?? end;
  const downloaded =
    watched?.type === 'over' && download !== undefined
      ? await downloadSweepResults(session, context, { sweep, records }, { onConflict: download })
      : undefined;
  const results = downloaded && { results: downloaded.jobs };
  if (!terminal.json({ ...sweepAsJson(sweep, records), end: end.type, ...results }))
    terminal.answer(shortSweepId(sweep));
  if (watched === undefined) return EXIT.done;
  if (watched.type === 'detached') {
    noteDetached(terminal, sweep);
    return EXIT.interrupted;
  }
  if (downloaded !== undefined && downloaded.exit !== EXIT.done) return downloaded.exit;
  const isGood = end.type === 'all-sent' && records.every(hasSucceeded);
  return isGood ? EXIT.done : EXIT.failed;
}

function reportPhases(sweep: Sweep, { terminal }: Context): (phase: SweepPhase) => void {
  let reason: string | undefined;
  return (phase) => {
    if (phase.type === 'retry') {
      terminal.phase(`the service cannot be reached; trying again … (${messageOf(phase.error)})`);
    } else if (phase.type === 'wait') {
      const why = phase.reason === 'concurrency' ? 'its limit of jobs at once' : 'its cost limit';
      terminal.status(
        `${describeCounts(countJobs(sweep.drafts.length, phase.records, Date.now()))} · waiting for ${why}`,
      );
    } else if (phase.phase.type === 'accepted') {
      const { jobId, sweep: place } = phase.phase.record;
      const parameters = describeParameters(place?.parameters ?? {});
      terminal.phase(`${phase.index + 1} of ${sweep.drafts.length}: ${parameters}: accepted as job ${jobId}`);
    } else if (phase.phase.type === 'whole' && phase.phase.reason !== reason) {
      // Usually each job of the sweep has the same reason.
      ({ reason } = phase.phase);
      terminal.note(reason);
    }
  };
}

/** The outcome of a sweep whose sending ended early, and how to continue. @param begun the jobs that were sent, or may have been. */
function describeBegun(sweep: Sweep, begun: readonly JobRecord[]): readonly string[] {
  const unknown = begun.filter(({ state }) => state === 'unknown').length;
  const sentCount = begun.length - unknown;
  const total = sweep.drafts.length;
  const running = `${sentCount} of ${total} jobs ${sentCount === 1 ? 'was sent. It keeps' : 'were sent. They keep'} running.`;
  return [
    ...(sentCount > 0 ? [running] : unknown === 0 ? [`None of the ${total} jobs was sent.`] : []),
    ...(unknown > 0
      ? [`The service did not say whether it has ${formatCount(unknown, sentCount > 0 ? 'more job' : 'job')}.`]
      : []),
    `  ${unknown > 0 ? 'find out, and ' : ''}send the others:  farwharf sweep resume ${shortSweepId(sweep)}`,
  ];
}

function describeSweepEnd(sweep: Sweep, { type, records }: SweepEnd): readonly string[] {
  const sentence = `${records.length} of ${sweep.drafts.length} jobs of ${sweep.name} were sent`;
  const id = shortSweepId(sweep);
  if (type === 'cancelled') return [`The sweep was cancelled: ${sentence}.`];
  if (type === 'cost-limit') {
    return [
      `${sentence}: another one could exceed the limit of ${sweep.maxCost} credits.`,
      `  send the others:  farwharf sweep resume ${id} --max-cost CREDITS`,
    ];
  }
  return [`All ${sweep.drafts.length} jobs of ${sweep.name} were sent.`, `  compare them:  farwharf sweep show ${id}`];
}

/** The jobs of a sweep when all of them have ended, or when the user stopped watching and they continue. */
interface WatchedSweep {
  readonly type: 'over' | 'detached';
  readonly records: readonly JobRecord[];
}

/** Waits until no job of the sweep is running, and reports the end of each. */
async function waitForAll(
  session: Session,
  { signal, terminal }: Context,
  sweep: Sweep,
  records: readonly JobRecord[],
): Promise<WatchedSweep> {
  const deps = { service: session.sender(), ledger: session.asyncLedger };
  const ended = new Set<string>();
  let current = records;
  try {
    for (;;) {
      current = (await surveyIfReachable(session, deps, sweep, signal)) ?? current;
      for (const record of current.filter((each) => isOver(each) && !ended.has(each.id))) {
        ended.add(record.id);
        const parameters = describeParameters(record.sweep?.parameters ?? {});
        terminal.note(`${parameters}: ${describeJob(record, Date.now())}`);
      }
      if (current.every((record) => isOver(record) || record.state === 'unknown'))
        return { type: 'over', records: current };
      terminal.status(describeCounts(countJobs(sweep.drafts.length, current, Date.now())));
      await sleep(POLL_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return { type: 'detached', records: current };
  } finally {
    terminal.clearStatus();
  }
}

/** Undefined, with a note, while the service does not respond: the jobs continue, however long the outage lasts. */
async function surveyIfReachable(
  { contact }: Session,
  deps: SurveyDeps,
  { id }: Sweep,
  signal: AbortSignal,
): Promise<readonly JobRecord[] | undefined> {
  try {
    const records = await surveyJobs(deps, id, signal);
    contact.returned();
    return records;
  } catch (error) {
    signal.throwIfAborted();
    if (!mayBeRetried(error)) throw error;
    contact.lost();
    return undefined;
  }
}

/** Reminds a user who stopped watching that the jobs continue. */
function noteDetached(terminal: Terminal, sweep: Sweep): void {
  const id = shortSweepId(sweep);
  terminal.note(`Stopped watching. The jobs of ${sweep.name} continue to run.`);
  terminal.note(`  watch again:   farwharf sweep resume ${id} --watch`);
  terminal.note(`  stop the jobs: farwharf sweep cancel ${id}`);
}
