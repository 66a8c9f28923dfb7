import { formatBytes, formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import {
  estimateArchiveBytes,
  type Exclusion,
  type ExclusionReason,
  type Selection,
} from '../../workspace/select/selection.ts';

/** Why something stays at home, as the end of a line. The order is that of the summary: what matters most first. */
const REASONS: Readonly<Record<ExclusionReason, string>> = {
  secret: 'looks like a secret; send it with --include PATH',
  limit: 'over the size limit',
  unreadable: 'cannot be read',
  link: 'leads out of the folder, or nowhere',
  special: 'cannot be sent',
  farwharfignore: 'by .farwharfignore',
  gitignore: 'by .gitignore',
  venv: 'virtual environment',
  cache: 'can be made again',
  git: "git's own data",
};
const SHOWN_NAMES = 4;

/** `41 files, 3.2 MB`. */
export function describeSize({ files, totalBytes }: Selection): string {
  return `${formatCount(files.length, 'file')}, ${formatBytes(totalBytes)}`;
}

/** What of a folder is left out and why, and what a person should look at: lines for people. */
export function describeExclusions({ excluded, findings }: Selection): string[] {
  const groups = Map.groupBy(excluded, ({ reason }) => reason);
  const lines = (Object.keys(REASONS) as ExclusionReason[]).flatMap((reason) => {
    const group = groups.get(reason);
    return group === undefined ? [] : [`  left out: ${describeNames(group, reason)} (${REASONS[reason]})`];
  });
  const named = new Set(excluded.map(({ path }) => path));
  const notes = findings
    .filter(({ path }) => !named.has(path))
    .map(({ message }) => `  note: ${printableLine(message)}`);
  return [...lines, ...notes];
}

/** Every secret is named; of the others the first few. */
function describeNames(group: readonly Exclusion[], reason: ExclusionReason): string {
  const shown = reason === 'secret' ? group : group.slice(0, SHOWN_NAMES);
  const names = shown.map(({ path, type }) => printableLine(type === 'directory' ? `${path}/` : path));
  const rest = group.length - shown.length;
  return names.join(', ') + (rest > 0 ? ` and ${rest.toLocaleString('en-US')} more` : '');
}

/** The answer of `submit --dry-run --json`; the findings about files come before those about the job. */
export function selectionAsJson(selection: Selection, jobFindings: readonly object[]): object {
  return {
    files: selection.files.map(({ path, size }) => ({ path, size })),
    excluded: selection.excluded,
    total_bytes: selection.totalBytes,
    estimated_bytes: estimateArchiveBytes(selection),
    findings: [...selection.findings, ...jobFindings],
  };
}
