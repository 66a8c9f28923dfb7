import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatBytes, formatCredits, formatInteger } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobReview } from '../../jobs/selection/jobReview.ts';
import { firstDraft, type SubmitDefaults } from '../../jobs/plan/draft.ts';
import { planSubmit, type SubmitTarget } from '../../jobs/plan/plan.ts';
import { reviewFindings } from '../../jobs/plan/reviewFindings.ts';
import { describeFinding, refuseErrors } from '../../jobs/plan/preflight.ts';
import {
  createSweep,
  describePlannedHours,
  hasPricedJobs,
  highestPlannedCost,
  type SweepPlan,
  sweepFindings,
} from '../../jobs/sweeps/createSweep.ts';
import type { SelectedFolder } from '../../jobs/selection/selectedFolder.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { scriptArguments, scriptPath } from '../../jobs/selection/script.ts';
import { prepareSweptFlow } from '../../flows/run/job/flowJob.ts';
import { askModal, showCancellable } from '../ui/show.ts';
import { exclusionSentence } from './preflight/preflightText.ts';
import { prepareFlow } from './flowScript.ts';
import type { SelectionReader } from './selectionReader.ts';
import type { SubmitArguments } from './submitArguments.ts';
import type { UsedProfile } from './submitProfile.ts';

interface SweepRequest {
  readonly profile: UsedProfile;
  readonly asked: SubmitArguments;
  readonly target: SubmitTarget;
  readonly selection: SelectedFolder;
  readonly reader: SelectionReader;
  readonly defaults: SubmitDefaults;
  /** What the user should know, one sentence each. */
  readonly notes: readonly string[];
}

/**
 * Asks, and then submits a job for each combination of a profile's matrix.
 *
 * @returns the ID of the sweep; undefined if the user cancelled.
 */
export async function submitSweep(services: SubmitDeps, request: SweepRequest): Promise<string | undefined> {
  const { profile, asked, target, reader, defaults } = request;
  const { job } = profile;
  const drafts = job.combinations.map((parameters) => {
    const terms = { ...profile.termsOf(parameters), ...asked };
    return firstDraft(terms, terms.script ?? '', { memory: { scripts: [] }, defaults, rates: [] });
  });
  await using flow = await prepareSweptFlow({
    name: job.name,
    files: drafts.map(({ script }) => scriptPath(script)),
    prepare: (index) =>
      prepareFlow(services, { selection: request.selection, draft: { script: drafts[index]?.script ?? '' } }, asked),
  });
  const selection = flow === undefined ? request.selection : await reader.addFiles(request.selection, flow.files);
  const reviews = new Map<string, JobReview>();
  const jobs: SweepPlan['jobs'][number][] = [];
  for (const [index, written] of drafts.entries()) {
    const key = JSON.stringify([written.script, written.venv?.['requirements']]);
    const review = reviews.get(key) ?? (await reader.review(request.selection, written));
    reviews.set(key, review);
    // A flow is started by a script of ours.
    const reviewed = { ...review, start: flow === undefined ? review.start : undefined };
    const script = flow?.scriptWith(scriptArguments(written.script)) ?? written.script;
    const parameters = job.combinations[index] ?? {};
    jobs.push({
      parameters,
      plan: planSubmit(target, { ...written, script }, selection, reviewFindings(reviewed, target, written)),
    });
  }
  const plan = { name: job.name, limits: job.limits, jobs };
  const findings = sweepFindings(plan, target.budget);
  refuseErrors(findings);
  const detail = [...request.notes, ...describeDetails(plan, selection), ...findings.map(describeFinding)];
  const submit = l10n.t('Submit');
  const question = printableLine(l10n.t('Submit {0} to {1}?', describePlan(plan), target.service));
  if ((await askModal(question, { detail: detail.join('\n\n') }, submit)) !== submit) return undefined;
  const forget = await services.submits.begin({ folder: selection.root, name: job.name, request: asked });
  const sweep = await showCancellable(l10n.t('Packing {0}', job.name), (signal) =>
    createSweep(services, plan, { signal, isTrusted: vscode.workspace.isTrusted }),
  ).finally(() => void forget());
  services.sweeps.start(sweep);
  services.sweepPages.show(sweep);
  return sweep.id;
}

/** `12 jobs of search, at most 4 at once, for at most 20 credits together`. */
function describePlan(plan: SweepPlan): string {
  const { concurrency, maxCost } = plan.limits;
  const hours = describePlannedHours(plan);
  const costs = [highestPlannedCost(plan), maxCost].filter((cost) => cost !== undefined);
  return [
    plan.jobs.length === 1
      ? l10n.t('1 job of {0}', plan.name)
      : l10n.t('{1} jobs of {0}', plan.name, formatInteger(plan.jobs.length)),
    ...(concurrency === undefined ? [] : [l10n.t('at most {0} at once', concurrency)]),
    ...(hasPricedJobs(plan)
      ? [
          costs.length === 0
            ? l10n.t('at an unknown cost')
            : l10n.t('for at most {0} credits together', formatCredits(Math.min(...costs))),
        ]
      : []),
    ...(hours === '' ? [] : [l10n.t('up to {0}', hours)]),
  ].join(', ');
}

function describeDetails({ jobs }: SweepPlan, selection: SelectedFolder): readonly string[] {
  const [first] = jobs;
  const names = Object.keys(first?.parameters ?? {});
  const values = names.map((name) => {
    const distinct = new Set(jobs.map(({ parameters }) => String(parameters[name])));
    return `${name}: ${[...distinct].slice(0, 10).join(', ')}${distinct.size > 10 ? ', …' : ''}`;
  });
  const left = exclusionSentence(selection.exclusions);
  const size = formatBytes(selection.totalBytes);
  const amount =
    selection.fileCount === 1
      ? l10n.t('1 file, {0} will be packed once and sent with each job.', size)
      : l10n.t('{1} files, {0} will be packed once and sent with each job.', size, formatInteger(selection.fileCount));
  return [values.join('\n'), [amount, ...(left === '' ? [] : [l10n.t('Left out: {0}.', left)])].join(' ')];
}
