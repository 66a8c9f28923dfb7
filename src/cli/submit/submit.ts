import { AppError } from '../../core/errors.ts';
import { directArchiver } from '../../jobs/archives/archiver.ts';
import { type CostEstimate, describeEstimate, estimateCost } from '../../jobs/submit/estimate.ts';
import { refuseErrors, preflightJob } from '../../jobs/submit/preflight.ts';
import { checkScript } from '../../jobs/submit/script.ts';
import { readLimits } from '../../jobs/submit/serviceLimits.ts';
import { submitWorkspace } from '../../jobs/submit/submit.ts';
import { estimateArchiveBytes, type Selection, selectFiles } from '../../workspace/select/selection.ts';
import { checkIncluded, describeMissingExcludes } from './chosenPaths.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';
import { prepareFlowJob } from '../flows/flowSubmission.ts';
import { describeExclusions, describeSize, selectionAsJson } from './selectionSummary.ts';
import { SendingReport } from './sendingReport.ts';
import { Session } from '../jobs/session.ts';
import { finishSubmit } from './submitEnd.ts';
import { readFolder, readVenv, type SubmitFlags } from './submitFlags.ts';
import {
  checkDryRun,
  describeWithFlag,
  type DryRunFindings,
  exitOfFindings,
  findingsAsJson,
  readAccount,
} from './submitPreflight.ts';
import { checkUnanswered } from '../jobs/unansweredSubmit.ts';

/** `farwharf submit`: sends a folder as a job, and with `--watch` and `--download` stays until its results are home. */
export async function submit(context: Context, argument: string, flags: SubmitFlags): Promise<number> {
  const folder = await readFolder(argument || '.');
  const venv = flags.venv === undefined ? undefined : await readVenv(flags.venv);
  const selection = await select(folder, context, flags);
  await using flow =
    flags.script === undefined ? undefined : await prepareFlowJob(selection, flags.script, flags, context);
  const sent = flow?.selection ?? selection;
  const { maxRuntime, machineClass, project } = flags;
  const terms = {
    maxRuntime,
    ...(machineClass !== undefined && { machineClass }),
    estimatedBytes: estimateArchiveBytes(sent),
  };
  const { terminal, signal } = context;
  if (flags.dryRun === true) {
    return showSelection(sent, await checkDryRun(() => new Session(context), terms, signal), context);
  }
  if (flags.script === undefined) throw new AppError('bad-input', 'Specify a script with --script FILE.');

  await using session = new Session(context);
  await checkUnanswered(session, context, { folder: selection.root, again: flags.again === true });
  const account = await readAccount(await session.client(), { signal });
  const findings = preflightJob(account, terms, session.hostName);
  refuseErrors(findings, describeWithFlag);
  const estimate = estimateCost(account ?? {}, terms);
  announce(sent, estimate, session.hostName, context);
  for (const finding of findings) terminal.note(`  note: ${describeWithFlag(finding)}`);
  const { maxUploadBytes } = readLimits(account);

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
      ...(maxUploadBytes !== undefined && { maxUploadBytes }),
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
  return await finishSubmit({ ...record, jobId }, receipt, { session, context, flags });
}

async function select(folder: string, { signal, terminal }: Context, flags: SubmitFlags): Promise<Selection> {
  const { include = [], exclude = [], script } = flags;
  await checkIncluded(folder, include);
  for (const remark of await describeMissingExcludes(folder, exclude)) terminal.note(remark);
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
  if (script !== undefined) {
    checkScript(selection, script, (path) =>
      exclude.includes(path) ? 'Leave out --exclude.' : `Send it with --include ${path}, or change the rule.`,
    );
  }
  return selection;
}

function describeNothing(folder: string, selection: Selection): string {
  const nothing = `There is nothing to send in ${folder}`;
  if (selection.excluded.length === 0)
    return `${nothing}: it has no files. Put the script there, or name another folder.`;
  const why = describeExclusions(selection)
    .map((line) => line.trim())
    .join('; ');
  return `${nothing}: every file there is left out. --include PATH sends one although it is. Details: ${why}.`;
}

function showSelection(selection: Selection, dryRun: DryRunFindings, { terminal }: Context): number {
  const exit = exitOfFindings(dryRun.findings);
  terminal.json(selectionAsJson(selection, findingsAsJson(dryRun)));
  if (!terminal.isJson) for (const { path } of selection.files) terminal.answer(path);
  if (!terminal.isJson) for (const line of describeExclusions(selection)) terminal.note(line);
  for (const finding of dryRun.findings) terminal.note(`  ${finding.severity}: ${describeWithFlag(finding)}`);
  if (dryRun.unchecked !== undefined) terminal.note(dryRun.unchecked);
  const outcome = exit === EXIT.done ? 'would be sent. Nothing was.' : 'were selected, but the job would be refused.';
  if (!terminal.isJson) terminal.note(`${describeSize(selection)} ${outcome}`);
  return exit;
}

function announce(selection: Selection, estimate: CostEstimate, hostName: string, { terminal }: Context): void {
  terminal.note(`${describeSize(selection)} will be sent to ${hostName}. ${describeEstimate(estimate)}`);
  for (const line of describeExclusions(selection)) terminal.note(line);
}
