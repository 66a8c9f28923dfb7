import { AppError } from '../../core/errors.ts';
import { batchFindings } from '../../jobs/batch/batchTerms.ts';
import { firstDraft } from '../../jobs/plan/draft.ts';
import { describePackages, forecastPackages } from '../../jobs/plan/packages.ts';
import { describeEstimate } from '../../jobs/plan/estimate.ts';
import { planSubmit, type SubmitPlan, type SubmitTarget } from '../../jobs/plan/plan.ts';
import { refuseErrors } from '../../jobs/plan/preflight.ts';
import { sendPlan } from '../../jobs/send/pack.ts';
import { reviewFindings } from '../../jobs/plan/reviewFindings.ts';
import { type JobReview, reviewJob } from '../../jobs/selection/jobReview.ts';
import { Selections, withFiles } from '../../jobs/selection/selections.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import type { Context } from '../command/context.ts';
import { prepareFlowJob } from '../flows/flowSubmission.ts';
import { Session } from '../session/session.ts';
import { checkUnanswered } from '../session/unansweredSubmit.ts';
import { offerLineEnds } from './offerLineEnds.ts';
import { selectToSend } from './selectToSend.ts';
import { describeExclusions, describeSize, showSelection } from './selectionSummary.ts';
import { SendingReport } from './sendingReport.ts';
import { finishSubmit } from './submitEnd.ts';
import { describeBatch, readSubmission } from './submitBatch.ts';
import { DEFAULT_TERMS, readVenv, type SubmitFlags } from './submitFlags.ts';
import { checkDryRun, describeWithFlag, readAccount, targetOf } from './submitPreflight.ts';
import { submitSweep } from './submitSweep.ts';
import { agreeToProfile, submitTerms, withServiceOf } from './submitProfile.ts';

/** `farwharf submit`: sends a folder as a job. With `--watch` or `--download` it returns after the job ended. */
export async function submit(context: Context, argument: string, flags: SubmitFlags): Promise<number> {
  const { folder, job } = await readSubmission(argument, flags);
  const venv = flags.venv === undefined ? undefined : await readVenv(flags.venv);
  if (job !== undefined && job.combinations.length > 1) return submitSweep(context, { folder, job, venv }, flags);
  const terms = submitTerms(job, flags, context.env);
  const { script } = terms;
  const select = () => selectToSend(folder, context, terms);
  let selection = await select();
  if (script !== undefined && !flags.dryRun && (await offerLineEnds(selection, script, context)))
    selection = await select();
  await using flow = script === undefined ? undefined : await prepareFlowJob(selection, script, flags, context);
  const sent = flow === undefined ? selection : withFiles(selection, flow.files);
  const selections = new Selections();
  const summary = selections.hold(sent);
  const intent = { ...terms, ...((terms.venv ?? venv) && { venv: { ...terms.venv, ...venv } }) };
  const memory = { memory: { scripts: [] }, defaults: DEFAULT_TERMS, rates: [] };
  const draft = firstDraft(intent, flow?.script ?? script ?? '', memory);
  const review: JobReview =
    script === undefined
      ? { findings: [], packageFindings: [], start: undefined }
      : await reviewJob(sent, { script, venv: draft.venv });
  // A flow is started by a script of ours.
  const reviewed = { ...review, start: flow === undefined ? review.start : undefined };
  const packagesFor = (target: SubmitTarget) => forecastPackages(folder, draft.venv, target.environments);
  const { terminal, signal } = context;
  const onService = await withServiceOf(job, context);
  if (flags.dryRun) {
    const plan = async (target: SubmitTarget) =>
      planSubmit(target, draft, summary, reviewFindings(reviewed, target, draft), await packagesFor(target));
    const local = [
      ...review.findings,
      ...review.packageFindings,
      ...(draft.batch === undefined ? [] : batchFindings(draft.batch, undefined)),
    ];
    const findings = await checkDryRun(() => new Session(onService), plan, { local, intent, signal });
    return showSelection(sent, findings, context);
  }
  if (script === undefined) throw new AppError('bad-input', 'Specify a script with --script FILE.');

  await using session = new Session(onService);
  if (job !== undefined) await agreeToProfile(job, session, context, { selection, flags });
  await checkUnanswered(session, context, { folder: selection.root, again: flags.again });
  const account = await readAccount(await session.client(), { signal });
  const target = await targetOf(session, account, intent);
  const plan = planSubmit(target, draft, summary, reviewFindings(reviewed, target, draft), await packagesFor(target));
  refuseErrors(plan.findings, describeWithFlag);
  announce(sent, plan, { context, hostName: session.hostName });
  const report = new SendingReport(terminal);
  let creditsRemaining: number | null = null;
  const record = await sendPlan(
    { service: session.sender(), selections, ledger: session.asyncLedger, home: session.home },
    plan,
    {
      signal,
      isTrusted: true,
      rehash: flags.rehash,
      onPhase: (phase) => {
        if (phase.type === 'accepted') ({ creditsRemaining } = phase);
        report.show(phase);
      },
    },
  );
  const { jobId } = record;
  if (jobId === null)
    throw new AppError('outcome-unknown', 'The service accepted the job but did not return a job ID.');
  await flow?.sent(jobId);
  const receipt = {
    job_id: jobId,
    credit_hold: record.creditHold,
    credits_remaining: creditsRemaining,
    unpriced_cpus: record.unpricedCpus,
    unpriced_gpus: record.unpricedGpus,
    files: sent.files.length,
    total_bytes: sent.totalBytes,
    sent_bytes: report.sentBytes,
    archive_bytes: record.archiveBytes,
  };
  return await finishSubmit({ ...record, jobId }, receipt, { session, context, flags });
}

function announce(
  selection: Selection,
  { draft, estimate, findings, packages }: SubmitPlan,
  { context: { terminal }, hostName }: { readonly context: Context; readonly hostName: string },
): void {
  terminal.note(`${describeSize(selection)} will be sent to ${hostName}. ${describeEstimate(estimate)}`);
  if (draft.batch !== undefined) terminal.note(describeBatch(selection.root, draft));
  if (packages !== undefined) terminal.note(`  packages: ${describePackages(packages)}`);
  for (const line of describeExclusions(selection)) terminal.note(line);
  for (const finding of findings) terminal.note(`  note: ${describeWithFlag(finding)}`);
}
