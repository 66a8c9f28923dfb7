import * as l10n from '@vscode/l10n';
import { formatBytes, formatCredits, formatInteger } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describePlannedHours, hasPricedJobs, highestPlannedCost, type JobPlans } from '../../jobs/plan/jobPlans.ts';
import { describeFinding, refuseErrors } from '../../jobs/plan/preflight.ts';
import type { Preflight } from '../../jobs/submit/submit.ts';
import { askModal } from '../ui/show.ts';
import { exclusionSentence } from './preflight/preflightText.ts';

/** Asks whether the jobs of a sweep are sent. Undefined if not. @throws AppError as `refuseErrors` does. */
export async function confirmSweep(
  { plans, findings }: Preflight,
  { notes, service }: { readonly notes: readonly string[]; readonly service: string },
): Promise<JobPlans | undefined> {
  refuseErrors(findings);
  const detail = [...notes, ...describeDetails(plans), ...findings.map(describeFinding)];
  const submit = l10n.t('Submit');
  const question = printableLine(l10n.t('Submit {0} to {1}?', describePlan(plans), service));
  return (await askModal(question, { detail: detail.join('\n\n') }, submit)) === submit ? plans : undefined;
}

/** `12 jobs of search, at most 4 at once, for at most 20 credits together`. */
function describePlan(plan: JobPlans): string {
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

function describeDetails({ jobs }: JobPlans): readonly string[] {
  const [first] = jobs;
  if (first === undefined) return [];
  const { selection } = first.plan;
  const names = Object.keys(first.parameters);
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
