import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { describeBatch } from './submitBatch.ts';
import {
  describeWithFlag,
  estimateAsJson,
  type DryRunFindings,
  exitOfFindings,
  findingsAsJson,
  onlyPlan,
} from './submitPreflight.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { EXCLUSION_REASONS, groupExclusions } from '../../jobs/selection/exclusions.ts';
import { describeFoundPackages, describePackages } from '../../jobs/plan/packages.ts';
import type { SubmitPlan } from '../../jobs/plan/plan.ts';
import {
  estimateArchiveBytes,
  type Exclusion,
  type ExclusionReason,
  type Selection,
} from '../../workspace/select/selection.ts';

const SHOWN_NAMES = 4;
const REMEDIES: Partial<Readonly<Record<ExclusionReason, string>>> = {
  secret: '; send it with --include PATH',
  link: '; send what it leads to with --include PATH',
};

/** `41 files, 3.2 MB`. */
export function describeSize({ files, totalBytes }: Selection): string {
  return `${formatCount(files.length, 'file')}, ${formatBytes(totalBytes)}`;
}

/** The paths that are left out with the reasons, and the findings about files: lines for people. */
export function describeExclusions({ excluded, findings }: Pick<Selection, 'excluded' | 'findings'>): string[] {
  const lines = groupExclusions(excluded).map(([reason, group]) => {
    const remedy = REMEDIES[reason] ?? '';
    return `  left out: ${describeNames(group, reason)} (${EXCLUSION_REASONS[reason]}${remedy})`;
  });
  const named = new Set(excluded.map(({ path }) => path));
  const notes = findings
    .filter(({ path }) => !named.has(path))
    .map(({ message }) => `  note: ${printableLine(message)}`);
  return [...lines, ...notes];
}

/** Names every secret, and the first few paths of the other reasons. */
function describeNames(group: readonly Exclusion[], reason: ExclusionReason): string {
  const shown = reason === 'secret' ? group : group.slice(0, SHOWN_NAMES);
  const names = shown.map(({ path, type }) => printableLine(type === 'directory' ? `${path}/` : path));
  const rest = group.length - shown.length;
  return names.join(', ') + (rest > 0 ? ` and ${rest.toLocaleString('en-US')} more` : '');
}

/** The reasons of the JSON are a closed list, which programs rely on; the rule says what is wrong with a name. */
function documentedReason({ reason }: Exclusion): Exclude<ExclusionReason, 'name'> {
  return reason === 'name' ? 'special' : reason;
}

/** The output of `submit --dry-run --json`; the findings about files come before those about the job. */
function selectionAsJson(selection: Selection, jobFindings: readonly object[]): object {
  return {
    files: selection.files.map(({ path, size }) => ({ path, size })),
    excluded: selection.excluded.map((exclusion) => ({ ...exclusion, reason: documentedReason(exclusion) })),
    total_bytes: selection.totalBytes,
    estimated_bytes: estimateArchiveBytes(selection),
    findings: [...selection.findings, ...jobFindings],
  };
}

/** Says what happens with packages, and which lists of the folder are not used. */
export function notePackages(
  { packages, packageLists, otherLists, draft }: SubmitPlan,
  terminal: Pick<Context['terminal'], 'note'>,
): void {
  if (packages !== undefined) terminal.note(`  packages: ${describePackages(packages)}`);
  const [first = ''] = packageLists;
  if (draft.venv?.['requirements'] !== undefined || packageLists.length + otherLists.length === 0) return;
  const remedy =
    packageLists.length === 0 ? '' : `. Install from ${first} with --packages ${shellWord(printableLine(first))}`;
  terminal.note(`  packages: ${describeFoundPackages(packageLists, otherLists)}${remedy}`);
}

/** Answers a dry run. @param jobs the jobs of a sweep, for JSON. */
export function showSelection(
  selection: Selection,
  dryRun: DryRunFindings,
  { terminal }: Context,
  jobs?: readonly object[],
): number {
  const exit = exitOfFindings(dryRun.findings);
  const estimate = estimateAsJson(dryRun);
  const plan = onlyPlan(dryRun);
  const lists = plan && { package_lists: plan.packageLists, packages: plan.draft.venv?.['requirements'] };
  terminal.json({
    ...selectionAsJson(selection, findingsAsJson(dryRun)),
    ...estimate,
    ...lists,
    ...(jobs && { jobs }),
  });
  if (!terminal.isJson) for (const { path } of selection.files) terminal.answer(path);
  if (!terminal.isJson && plan?.draft.batch !== undefined) terminal.note(describeBatch(selection.root, plan.draft));
  if (!terminal.isJson) for (const line of describeExclusions(selection)) terminal.note(line);
  if (plan !== undefined) notePackages(plan, terminal);
  for (const finding of dryRun.findings) terminal.note(`  ${finding.severity}: ${describeWithFlag(finding)}`);
  if (dryRun.unchecked !== undefined) terminal.note(dryRun.unchecked);
  const outcome =
    exit === EXIT.done ? 'would be sent. Nothing was sent.' : 'were selected, but the service would refuse the job.';
  if (!terminal.isJson) terminal.note(`${describeSize(selection)} ${outcome}`);
  return exit;
}
