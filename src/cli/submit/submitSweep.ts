import { AppError } from '../../core/errors.ts';
import { formatCount, formatCredits } from '../../core/text/format.ts';
import { batchFindings } from '../../jobs/batch/batchTerms.ts';
import { describeParameters } from '../../jobs/ledger/parameters.ts';
import type { ProfileJob } from '../../jobs/profiles/profileJob.ts';
import { type JobReview, reviewJob } from '../../jobs/selection/jobReview.ts';
import { scriptArguments, scriptPath } from '../../jobs/selection/script.ts';
import { Selections, withFiles } from '../../jobs/selection/selections.ts';
import { firstDraft, type SubmitDraft } from '../../jobs/plan/draft.ts';
import { planSubmit, type SubmitTarget } from '../../jobs/plan/plan.ts';
import { refuseErrors } from '../../jobs/plan/preflight.ts';
import { reviewFindings } from '../../jobs/plan/reviewFindings.ts';
import {
  createSweep,
  describePlannedHours,
  hasPricedJobs,
  highestPlannedCost,
  type SweepPlan,
  sweepFindings,
} from '../../jobs/sweeps/createSweep.ts';
import { prepareSweptFlow } from '../../flows/run/job/flowJob.ts';
import type { Context } from '../command/context.ts';
import { prepareFlowJob } from '../flows/flowSubmission.ts';
import { Session } from '../session/session.ts';
import { checkUnanswered } from '../session/unansweredSubmit.ts';
import { describeExclusions, describeSize, showSelection } from './selectionSummary.ts';
import { offerLineEnds } from './offerLineEnds.ts';
import { selectToSend } from './selectToSend.ts';
import { SendingReport } from './sendingReport.ts';
import { DEFAULT_TERMS, type SubmitFlags } from './submitFlags.ts';
import { describeBatch } from './submitBatch.ts';
import { checkDryRun, describeWithFlag, readAccount, targetOf } from './submitPreflight.ts';
import { agreeToProfile, submitTerms, withServiceOf } from './submitProfile.ts';
import { runSweep } from '../sweeps/runSweep.ts';

interface SweepRequest {
  readonly folder: string;
  readonly job: ProfileJob;
  /** From `--venv`. */
  readonly venv: Readonly<Record<string, unknown>> | undefined;
}

/** Submits a job for each combination of a profile's matrix, within its limits. The folder is packed once. */
export async function submitSweep(
  context: Context,
  { folder, job, venv }: SweepRequest,
  flags: SubmitFlags,
): Promise<number> {
  const { signal, terminal, env } = context;
  if (flags.resume !== undefined) {
    const sentence = `--resume continues one run, and profile ${job.name} has ${job.combinations.length} jobs. Nothing was sent.`;
    throw new AppError('bad-input', `${sentence} Choose one with --set.`);
  }
  const written: SubmitDraft[] = [];
  const memory = { memory: { scripts: [] }, defaults: DEFAULT_TERMS, rates: [] };
  const first = submitTerms(job, flags, env);
  const select = () => selectToSend(folder, context, first);
  let selection = await select();
  if (!flags.dryRun && (await offerLineEnds(selection, first.script ?? '', context))) selection = await select();
  for (const parameters of job.combinations) {
    const terms = submitTerms(job, flags, env, parameters);
    const intent = { ...terms, ...((terms.venv ?? venv) && { venv: { ...terms.venv, ...venv } }) };
    written.push(firstDraft(intent, terms.script ?? '', memory));
  }
  await using flow = await prepareSweptFlow({
    name: job.name,
    files: written.map(({ script }) => scriptPath(script)),
    prepare: (index) => prepareFlowJob(selection, written[index]?.script ?? '', flags, context),
  });
  const drafts = written.map((draft) =>
    flow === undefined ? draft : { ...draft, script: flow.scriptWith(scriptArguments(draft.script)) },
  );
  const sent = flow === undefined ? selection : withFiles(selection, flow.files);
  const selections = new Selections();
  const summary = selections.hold(sent);
  const reviews: JobReview[] = [];
  const known = new Map<string, JobReview>();
  for (const { script, venv: own } of written) {
    const key = JSON.stringify([script, own?.['requirements']]);
    const review = known.get(key) ?? (await reviewJob(selection, { script, venv: own }));
    known.set(key, review);
    // A flow is started by a script of ours.
    reviews.push({ ...review, start: flow === undefined ? review.start : undefined });
  }
  const planWith = (target: SubmitTarget): SweepPlan => ({
    name: job.name,
    limits: job.limits,
    jobs: drafts.map((draft, index) => {
      const review = reviews[index];
      const findings = review && reviewFindings(review, target, draft);
      return { parameters: job.combinations[index] ?? {}, plan: planSubmit(target, draft, summary, findings) };
    }),
  });
  const onService = await withServiceOf(job, context);
  if (flags.dryRun) {
    const batch = first.batch === undefined ? [] : batchFindings(first.batch, undefined);
    const own = reviews.flatMap(({ findings, packageFindings }) => [...findings, ...packageFindings]);
    const local = [...new Set(own), ...batch];
    const plan = async (target: SubmitTarget) => ({ findings: sweepFindings(planWith(target), target.budget) });
    const found = await checkDryRun(() => new Session(onService), plan, { local, intent: first, signal });
    const jobs = written.map(({ script, maxRuntime }, index) => ({
      parameters: job.combinations[index],
      script,
      max_runtime: maxRuntime,
    }));
    for (const parameters of job.combinations) terminal.note(`  job: ${describeParameters(parameters)}`);
    return showSelection(sent, found, context, jobs);
  }

  await using session = new Session(onService);
  await agreeToProfile(job, session, context, { selection, flags });
  await checkUnanswered(session, context, { folder: selection.root, again: flags.again });
  const account = await readAccount(await session.client(), { signal });
  const target = await targetOf(session, account, first);
  const plan = planWith(target);
  const findings = sweepFindings(plan, target.budget);
  refuseErrors(findings, describeWithFlag);
  terminal.note(`${describeSize(sent)} will be sent to ${session.hostName}. ${describeSweepPlan(plan)}`);
  const [sample] = plan.jobs;
  if (sample?.plan.draft.batch !== undefined) terminal.note(describeBatch(selection.root, sample.plan.draft));
  for (const line of describeExclusions(selection)) terminal.note(line);
  for (const finding of findings) terminal.note(`  note: ${describeWithFlag(finding)}`);
  const report = new SendingReport(terminal);
  const sweep = await createSweep({ selections, home: session.home }, plan, {
    signal,
    isTrusted: true,
    rehash: flags.rehash,
    onPhase: report.show,
  });
  const { watch, download, onConflict } = flags;
  return await runSweep(session, context, sweep, { watch, download: download ? onConflict : undefined });
}

/** `12 jobs, at most 4 at once, at most 6 credits together.` */
function describeSweepPlan(plan: SweepPlan): string {
  const { concurrency, maxCost } = plan.limits;
  const [highest, hours] = [highestPlannedCost(plan), describePlannedHours(plan)];
  const costs = [highest, maxCost].filter((cost) => cost !== undefined);
  const parts = [
    formatCount(plan.jobs.length, 'job'),
    ...(concurrency === undefined ? [] : [`at most ${concurrency} at once`]),
    ...(hasPricedJobs(plan)
      ? [costs.length === 0 ? 'at an unknown cost' : `at most ${formatCredits(Math.min(...costs))} credits together`]
      : []),
    ...(hours === '' ? [] : [`up to ${hours} together`]),
  ];
  return `${parts.join(', ')}.`;
}
