import { AppError } from '../../core/errors.ts';
import { formatCount, formatCredits, formatDuration } from '../../core/text/format.ts';
import { describeParameters } from '../../jobs/ledger/parameters.ts';
import { describeEstimate } from '../../jobs/plan/estimate.ts';
import { describePlannedHours, hasPricedJobs, highestPlannedCost, type JobPlans } from '../../jobs/plan/jobPlans.ts';
import type { SubmitPlan } from '../../jobs/plan/plan.ts';
import { refuseErrors } from '../../jobs/plan/preflight.ts';
import { startedCommand } from '../../jobs/plan/draft.ts';
import { resolveHost } from '../../jobs/service/host.ts';
import {
  type Preflight,
  reviewJobs,
  submitJobs,
  type SubmitRequest,
  type SubmitService,
} from '../../jobs/submit/submit.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';
import { checkUnanswered } from '../command/unansweredSubmit.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { runSweep } from '../sweeps/runSweep.ts';
import { FilesToSend } from './filesToSend.ts';
import { describeExclusions, describeSize, notePackages, showSelection } from './selectionSummary.ts';
import { SendingReport } from './sendingReport.ts';
import { describeBatch, readSubmitInput } from './submitBatch.ts';
import { finishSubmit } from './submitEnd.ts';
import { DEFAULT_TERMS, readVenv, type SubmitFlags } from './submitFlags.ts';
import { checkDryRun, describeWithFlag, targetOf } from './submitPreflight.ts';
import { allowProfile, grantedBy, submitTerms, withServiceOf } from './submitProfile.ts';

/**
 * `farwharf submit`: sends a folder as a job, or as one for each combination of a profile's matrix. With `--watch` or `--download` it returns
 * after they ended.
 */
export async function runSubmit(context: Context, argument: string, flags: SubmitFlags): Promise<number> {
  const { folder, job } = await readSubmitInput(argument, flags, context.cwd);
  const environment = flags.venv === undefined ? undefined : await readVenv(flags.venv, context.cwd);
  const venv = flags.packages === undefined ? environment : { ...environment, requirements: flags.packages };
  const terms: SubmitRequest['terms'] = (described, parameters) =>
    submitTerms(described, parameters, { flags, venv, env: context.env });
  const { script, command, include = [], exclude = [] } = terms(job, job?.combinations[0] ?? {});
  const program = command !== undefined ? startedCommand(command) : script !== undefined ? { script } : undefined;
  const choice = { include, exclude };
  const files = new FilesToSend(folder, context, flags, program);
  const usual = { memory: { scripts: [] }, defaults: DEFAULT_TERMS, rates: [] };
  const request = { choice, selection: await files.select(choice), program, job, terms, usual, isTrusted: true };
  const onService = await withServiceOf(job, context);
  if (flags.dryRun) return dryRun(onService, files, { ...request, program: program ?? { script: '' } });
  if (program === undefined) {
    throw new AppError(
      'bad-input',
      'Specify a script with --script FILE, or a command after --: farwharf submit -- make all',
    );
  }

  const { signal, terminal } = context;
  await using session = new Session(onService);
  const { host, hostName, home } = session;
  const report = new SendingReport(terminal);
  let creditsRemaining: number | null = null;
  const service: SubmitService = {
    host,
    name: hostName,
    isSwitch: context.remote === undefined && host !== resolveHost({ env: context.env }),
    granted: grantedBy(flags),
    deps: { service: session.sender(), selections: files.selections, ledger: session.asyncLedger, home },
    target: async (drafts) => {
      await checkUnanswered(session, context, { folder: files.all.root, again: flags.again });
      return targetOf(session, drafts, { signal });
    },
    send: (_, work) =>
      work({
        signal,
        rehash: flags.rehash,
        onPhase: (phase) => {
          if (phase.type === 'accepted') ({ creditsRemaining } = phase);
          report.show(phase);
        },
      }),
  };
  const submitted = await submitJobs(request, files, service, {
    chooseProgram: async () => program,
    allowProfile: (sentence, access) => allowProfile(sentence, access, context),
    confirm: async (preflight) => announce(files, preflight, { context, hostName }),
  });
  if (submitted === undefined) throw new Error('Nothing at a terminal cancels a submit.');
  if (submitted.type === 'sweep') {
    const { watch, download, onConflict, onSweepWait: onWait } = flags;
    return await runSweep(session, context, submitted.sweep, {
      watch,
      download: download ? onConflict : undefined,
      onWait,
    });
  }
  const { record } = submitted;
  const { jobId } = record;
  if (jobId === null)
    throw new AppError('outcome-unknown', 'The service accepted the job but did not return a job ID.');
  const receipt = {
    job_id: jobId,
    credit_hold: record.creditHold,
    credits_remaining: creditsRemaining,
    unpriced_cpus: record.unpricedCpus,
    unpriced_gpus: record.unpricedGpus,
    files: files.all.files.length,
    total_bytes: files.all.totalBytes,
    sent_bytes: report.sentBytes,
    archive_bytes: record.archiveBytes,
  };
  return await finishSubmit({ ...record, jobId }, receipt, { session, context, flags });
}

async function dryRun(
  context: Context,
  files: FilesToSend,
  request: Parameters<typeof reviewJobs>[0],
): Promise<number> {
  await using jobs = await reviewJobs(request, files);
  const found = await checkDryRun(() => new Session(context), jobs, context.signal);
  const { drafts, combinations } = jobs;
  if (drafts.length === 1) return showSelection(files.all, found, context);
  for (const parameters of combinations) context.terminal.note(`  job: ${describeParameters(parameters)}`);
  const listed = drafts.map(({ script, command, maxRuntime }, index) => ({
    parameters: combinations[index],
    script,
    ...(command && { command }),
    max_runtime: maxRuntime,
  }));
  return showSelection(files.all, found, context, listed);
}

/** Says what is sent. @throws AppError as `refuseErrors` does, with the flags that remedy the errors. */
function announce(
  { all }: FilesToSend,
  { plans, findings, access }: Preflight,
  { context: { terminal }, hostName }: { readonly context: Context; readonly hostName: string },
): JobPlans {
  if (access?.isNew === false) terminal.note(`  note: ${access.sentence}`);
  refuseErrors(findings, describeWithFlag);
  const [first, ...others] = plans.jobs;
  const cost = first === undefined || others.length > 0 ? describeJobs(plans) : describeEstimate(first.plan.estimate);
  terminal.note(`${describeSize(all)} will be sent to ${hostName}. ${cost}`);
  if (first !== undefined) noteDebugging(first.plan, terminal);
  if (first?.plan.draft.batch !== undefined) terminal.note(describeBatch(all.root, first.plan.draft));
  if (first !== undefined) notePackages(first.plan, terminal);
  for (const line of describeExclusions(all)) terminal.note(line);
  for (const finding of findings) terminal.note(`  note: ${describeWithFlag(finding)}`);
  return plans;
}

function noteDebugging({ draft: { debug }, estimate }: SubmitPlan, terminal: Terminal): void {
  if (debug === undefined) return;
  const { frozen } = estimate.type === 'known' ? estimate : {};
  const price = frozen === undefined ? '' : `, for at most ${formatCredits(frozen)} of these credits`;
  terminal.note(`Where it fails, it waits up to ${formatDuration(debug.hold)} for a debugger${price}.`);
}

/** `12 jobs, at most 4 at once, at most 6 credits together.` */
function describeJobs(plans: JobPlans): string {
  const { concurrency, maxCost } = plans.limits;
  const [highest, hours] = [highestPlannedCost(plans), describePlannedHours(plans)];
  const costs = [highest, maxCost].filter((cost) => cost !== undefined);
  const parts = [
    formatCount(plans.jobs.length, 'job'),
    ...(concurrency === undefined ? [] : [`at most ${concurrency} at once`]),
    ...(hasPricedJobs(plans)
      ? [costs.length === 0 ? 'at an unknown cost' : `at most ${formatCredits(Math.min(...costs))} credits together`]
      : []),
    ...(hours === '' ? [] : [`up to ${hours} together`]),
  ];
  return `${parts.join(', ')}.`;
}
