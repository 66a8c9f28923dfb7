import * as vscode from 'vscode';
import { formatBytes, formatCount, formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { ScriptFinding } from '../../jobs/selection/scriptReview.ts';
import { firstDraft, type SubmitDefaults } from '../../jobs/submit/draft.ts';
import { planSubmit, type SubmitTarget } from '../../jobs/submit/plan.ts';
import { describeFinding, refuseErrors } from '../../jobs/submit/preflight.ts';
import { createSweep, highestPlannedCost, type SweepPlan, sweepFindings } from '../../jobs/sweeps/createSweep.ts';
import type { SelectedFolder } from '../../jobs/selection/selectedFolder.ts';
import type { Services } from '../services/services.ts';
import { withSignal } from '../ui/abort.ts';
import { askModal, showProgress } from '../ui/show.ts';
import { exclusionSentence } from './preflight/preflightText.ts';
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
export async function submitSweep(services: Services, request: SweepRequest): Promise<string | undefined> {
  const { profile, asked, target, selection, reader, defaults } = request;
  const { job } = profile;
  const reviews = new Map<string, readonly ScriptFinding[]>();
  const jobs: SweepPlan['jobs'][number][] = [];
  for (const parameters of job.combinations) {
    const terms = { ...profile.termsOf(parameters), ...asked };
    const draft = firstDraft(terms, terms.script ?? '', { memory: { scripts: [] }, defaults, rates: [] });
    const review = reviews.get(draft.script) ?? (await reader.review(selection, draft.script));
    reviews.set(draft.script, review);
    jobs.push({ parameters, plan: planSubmit(target, draft, selection, review) });
  }
  const plan = { name: job.name, limits: job.limits, jobs };
  const findings = sweepFindings(plan, target.budget);
  refuseErrors(findings);
  const detail = [...request.notes, ...describeDetails(plan, selection), ...findings.map(describeFinding)];
  const submit = 'Submit';
  const question = printableLine(`Submit ${describePlan(plan)} to ${target.service}?`);
  if ((await askModal(question, { detail: detail.join('\n\n') }, submit)) !== submit) return undefined;
  const options = { location: vscode.ProgressLocation.Notification, title: `Packing ${job.name}`, cancellable: true };
  const sweep = await showProgress(options, (_progress, token) =>
    withSignal(token, (signal) => createSweep(services, plan, { signal, isTrusted: vscode.workspace.isTrusted })),
  );
  services.sweeps.start(sweep);
  services.sweepPages.show(sweep);
  return sweep.id;
}

/** `12 jobs of search, at most 4 at once, for at most 20 credits together`. */
function describePlan(plan: SweepPlan): string {
  const { concurrency, maxCost } = plan.limits;
  const costs = [highestPlannedCost(plan), maxCost].filter((cost) => cost !== undefined);
  return [
    `${formatCount(plan.jobs.length, 'job')} of ${plan.name}`,
    ...(concurrency === undefined ? [] : [`at most ${concurrency} at once`]),
    costs.length === 0 ? 'at an unknown cost' : `for at most ${formatCredits(Math.min(...costs))} credits together`,
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
  const size = `${formatCount(selection.fileCount, 'file')}, ${formatBytes(selection.totalBytes)}`;
  return [
    values.join('\n'),
    `${size} will be packed once and sent with each job.${left === '' ? '' : ` Left out: ${left}.`}`,
  ];
}
