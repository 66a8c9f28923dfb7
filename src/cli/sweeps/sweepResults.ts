import { basename, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeParameters } from '../../jobs/ledger/parameters.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { DownloadedResults } from '../../jobs/results/placeFiles.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import { awaitedResults } from '../../jobs/sweeps/awaitedResults.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import type { Context } from '../command/commandContext.ts';
import { describeFailure, EXIT } from '../command/exit.ts';
import type { ConflictChoice } from '../command/flags.ts';
import { downloadInto, describeResults, resultsAsJson } from '../jobs/jobResults.ts';
import type { Session } from '../command/session.ts';
import { shortSweepId } from './shortSweepId.ts';

// For these errors, the other jobs would fail in the same way.
const ENDING: ReadonlySet<number> = new Set([EXIT.interrupted, EXIT.network, EXIT.notAuthorized]);

interface SweepResultsOptions {
  readonly onConflict: ConflictChoice;
  /** The folder to create a folder for each job's results in; by default, each job's results go where its profile puts them. */
  readonly into?: string | undefined;
}

/** The results of one job, or why they were not downloaded. JSON: the fields of `farwharf download --json`, or `error`. */
interface JobResults {
  readonly job_id: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

/** What was downloaded of a sweep. */
export interface SweepResults {
  readonly jobs: readonly JobResults[];
  /** `EXIT.done` if all available results were downloaded; otherwise the status of the error, or of Ctrl+C, that ended the download. */
  readonly exit: number;
}

/**
 * Downloads the results of the jobs that have ended, each into a folder of its own, unless that was done before. Problems with the results
 * of one job do not affect the others. If it is stopped, or the service does not respond, a note says how to continue.
 */
export async function downloadSweepResults(
  session: Session,
  context: Context,
  { sweep: ownSweep, records }: { readonly sweep: Sweep; readonly records: readonly JobRecord[] },
  options: SweepResultsOptions,
): Promise<SweepResults> {
  const { terminal } = context;
  const jobs: JobResults[] = [];
  const awaited = awaitedResults(records);
  for (const [index, record] of awaited.entries()) {
    const { jobId, sweep } = record;
    const parameters = sweep?.parameters ?? {};
    try {
      const results = await downloadOne(session, context, record, options);
      if (results === undefined) continue;
      jobs.push({ job_id: jobId, parameters, ...resultsAsJson(results) });
      terminal.note(`${describeParameters(parameters)}:`);
      for (const line of describeResults(results)) terminal.note(line);
    } catch (error) {
      const { exit, message } = describeFailure(error, ownSweep.host);
      if (exit !== EXIT.interrupted) jobs.push({ job_id: jobId, parameters, error: message });
      if (ENDING.has(exit)) {
        const rest = formatCount(awaited.length - index, 'job was', 'jobs were');
        terminal.note(message);
        terminal.note(`The results of ${rest} not downloaded.`);
        terminal.note(`  download them:  farwharf sweep download ${shortSweepId(ownSweep)}`);
        return { jobs, exit };
      }
      terminal.note(printableLine(`${describeParameters(parameters)}: ${message}`));
    }
  }
  const ended = records.filter(isOver);
  const before = ended.filter(({ downloadedAt, results }) => downloadedAt !== null && results?.files !== 0).length;
  if (before > 0)
    terminal.note(
      `The results of ${formatCount(before, 'job was', 'jobs were')} downloaded before. Again:  farwharf download ID`,
    );
  const running = records.length - ended.length;
  if (running > 0) terminal.note(`${formatCount(running, 'job has', 'jobs have')} not ended yet.`);
  if (jobs.length === 0 && before === 0 && running === 0) terminal.note('The jobs produced no results.');
  return { jobs, exit: jobs.every(({ error }) => error === undefined) ? EXIT.done : EXIT.failed };
}

/** Undefined if the job has no results. */
async function downloadOne(
  session: Session,
  context: Context,
  record: JobRecord,
  { onConflict, into }: SweepResultsOptions,
): Promise<DownloadedResults | undefined> {
  const { jobId, resultsFolder, id } = record;
  if (jobId === null) return undefined;
  const folderName = basename(resultsFolder ?? id);
  const folder = into === undefined ? () => resultsFolderOf(record) : join(into, folderName);
  const place = { record: { ...record, jobId }, ledger: session.asyncLedger, home: session.home };
  try {
    return await downloadInto(place, await session.client(), context, { folder, onConflict });
  } catch (error) {
    if (error instanceof AppError && error.code === 'missing') return undefined;
    throw error;
  }
}
