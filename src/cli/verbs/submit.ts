import { AppError } from '../../core/errors.ts';
import { httpStatus } from '../../jobs/api.ts';
import { directArchiver } from '../../jobs/archiver.ts';
import { describeOutcome } from '../../jobs/describe.ts';
import type { DownloadedResults } from '../../jobs/download.ts';
import { type CostEstimate, describeEstimate, estimateCost } from '../../jobs/estimate.ts';
import type { JobRecord } from '../../jobs/record.ts';
import { checkScript } from '../../jobs/script.ts';
import { submitWorkspace } from '../../jobs/submit.ts';
import type { RemoteClient } from '../../remote/client.ts';
import type { Account } from '../../remote/schemas.ts';
import { type Selection, selectFiles } from '../../workspace/selection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { prepareFlowJob } from '../flowSubmission.ts';
import { exitOfWatched, showLog, tellDetached } from '../jobLog.ts';
import type { JobPlace } from '../jobPlace.ts';
import { bringHome, describeResults, resultsAsJson } from '../results.ts';
import { describeExclusions, describeSize, selectionAsJson } from '../selectionSummary.ts';
import { SendingReport } from '../sendingReport.ts';
import { Session } from '../session.ts';
import { readFolder, readVenv, type SubmitFlags } from '../submitFlags.ts';
import { checkUnanswered } from '../unansweredSubmit.ts';

type Place = Pick<JobPlace, 'record' | 'ledger' | 'home'>;

/** `farwharf submit`: sends a folder as a job, and with `--watch` and `--download` stays until its results are home. */
export async function submit(context: Context, argument: string, flags: SubmitFlags): Promise<number> {
  const folder = await readFolder(argument || '.');
  const venv = flags.venv === undefined ? undefined : await readVenv(flags.venv);
  const selection = await select(folder, context, flags);
  await using flow =
    flags.script === undefined ? undefined : await prepareFlowJob(selection, flags.script, flags, context);
  const sent = flow?.selection ?? selection;
  if (flags.dryRun === true) return showSelection(sent, context);
  if (flags.script === undefined) throw new AppError('bad-input', 'Say what is to run: --script FILE.');

  await using session = new Session(context);
  await checkUnanswered(session, context, { folder: selection.root, again: flags.again === true });
  const { terminal, signal } = context;
  const client = await session.client();
  const account = await askAccount(client, signal);
  const { maxRuntime, machineClass, project } = flags;
  const estimate = estimateCost(account ?? {}, { maxRuntime, ...(machineClass !== undefined && { machineClass }) });
  announce(sent, estimate, session.hostName, context);

  const report = new SendingReport(terminal);
  let creditsRemaining: number | null = null;
  const record = await submitWorkspace(
    { service: session.sender(), archiver: directArchiver, ledger: session.asyncLedger, home: session.home },
    {
      host: session.host,
      ...(account?.account_id && { account: account.account_id }),
      selection: sent,
      script: flow?.script ?? flags.script,
      maxRuntime,
      ...(project !== undefined && { project }),
      ...(venv !== undefined && { venv }),
      ...(machineClass !== undefined && { machineClass }),
      ...(estimate.type === 'known' && { creditsPerMinute: estimate.creditsPerMinute }),
      isTrusted: true,
    },
    {
      signal,
      onPhase: (phase) => {
        if (phase.type === 'accepted') ({ creditsRemaining } = phase);
        report.show(phase);
      },
    },
  );
  const { jobId } = record;
  if (jobId === null) throw new AppError('outcome-unknown', 'The service accepted the job without telling its id.');
  const receipt = {
    job_id: jobId,
    credit_hold: record.creditHold,
    credits_remaining: creditsRemaining,
    files: sent.files.length,
    total_bytes: sent.totalBytes,
    archive_bytes: record.archiveBytes,
  };
  return await finish({ ...record, jobId }, receipt, { session, context, flags });
}

async function select(folder: string, { signal, terminal }: Context, flags: SubmitFlags): Promise<Selection> {
  const { include = [], exclude = [], script } = flags;
  const selection = await selectFiles(folder, {
    isTrusted: true,
    include,
    exclude,
    signal,
    onProgress: (files) => terminal.status(`looking at ${folder}: ${files.toLocaleString('en-US')} files`),
  });
  terminal.clearStatus();
  if (selection.files.length === 0) {
    throw new AppError('bad-input', describeNothing(folder, selection));
  }
  if (script !== undefined) checkScript(selection, script);
  return selection;
}

function describeNothing(folder: string, selection: Selection): string {
  const nothing = `There is nothing to send in ${folder}`;
  if (selection.excluded.length === 0)
    return `${nothing}: it has no files. Put the script there, or name another folder.`;
  const why = describeExclusions(selection).join('\n');
  return `${nothing}: every file there is left out. --include PATH sends one although it is.\n${why}`;
}

function showSelection(selection: Selection, { terminal }: Context): number {
  if (terminal.isJson) {
    terminal.json(selectionAsJson(selection));
    return EXIT.done;
  }
  for (const { path } of selection.files) terminal.answer(path);
  for (const line of describeExclusions(selection)) terminal.note(line);
  terminal.note(`${describeSize(selection)} would be sent. Nothing was.`);
  return EXIT.done;
}

/** The account; undefined where a service does not tell. A wrong key or a dead line is better learned before packing. */
async function askAccount(client: RemoteClient, signal: AbortSignal): Promise<Account | undefined> {
  try {
    return await client.me({ signal });
  } catch (error) {
    if (httpStatus(error) === 404) return undefined;
    throw error;
  }
}

function announce(selection: Selection, estimate: CostEstimate, hostName: string, { terminal }: Context): void {
  terminal.note(`${describeSize(selection)} will be sent to ${hostName}. ${describeEstimate(estimate)}`);
  for (const line of describeExclusions(selection)) terminal.note(line);
}

interface Sent {
  readonly session: Session;
  readonly context: Context;
  readonly flags: SubmitFlags;
}

/** What was asked for after the submit. JSON: one object at the end, and with `--watch` a line for the receipt and each event before it. */
async function finish(record: JobPlace['record'], receipt: object, sent: Sent): Promise<number> {
  const { session, context, flags } = sent;
  const { terminal } = context;
  const { jobId } = record;
  if (flags.watch !== true && flags.download !== true) {
    terminal.json(receipt);
    if (!terminal.isJson) terminal.answer(jobId);
    return EXIT.done;
  }
  if (flags.watch === true) terminal.json(receipt);
  const place = { record, ledger: session.asyncLedger, home: session.home };
  const watched = await showLog(place, session, context, {
    isQuiet: flags.watch !== true,
    isJustSent: true,
  });
  if (watched.type === 'detached') {
    tellDetached(terminal, jobId);
    return exitOfWatched(watched);
  }
  const { state, exitCode, reason, creditsCharged } = watched.record;
  const outcome = { ...receipt, state, exit_code: exitCode, reason, credits_charged: creditsCharged };
  if (flags.download !== true) {
    terminal.json(outcome);
    terminal.note(describeOutcome(watched.record, `results: farwharf download ${jobId}`));
    return exitOfWatched(watched);
  }
  const results = await bringResults(place, sent, watched.record);
  terminal.json({ ...outcome, results: results === undefined ? null : resultsAsJson(results) });
  for (const line of results === undefined ? ['The job left no results.'] : describeResults(results))
    terminal.note(line);
  terminal.note(describeOutcome(watched.record, results?.plan.length ? `results in ${results.folder}` : undefined));
  return exitOfWatched(watched);
}

/** The results; undefined when there are none. How the job ended is told even when its results cannot be had. */
async function bringResults(
  place: Place,
  { session, context, flags }: Sent,
  ended: JobRecord,
): Promise<DownloadedResults | undefined> {
  try {
    return await bringHome(place, await session.client(), context, {
      folder: ended.folder,
      onConflict: flags.onConflict,
    });
  } catch (error) {
    if (error instanceof AppError && error.code === 'missing') return undefined;
    context.terminal.note(describeOutcome(ended, `results: farwharf download ${place.record.jobId}`));
    throw error;
  }
}
