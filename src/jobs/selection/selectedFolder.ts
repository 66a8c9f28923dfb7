import {
  estimateArchiveBytes,
  type Exclusion,
  type ExclusionReason,
  type SelectedFile,
  type Selection,
} from '../../workspace/select/selection.ts';
import { groupExclusions } from './exclusions.ts';
import { suggestScripts } from './scriptSuggestions.ts';

/** The most files, exclusions, secrets, scripts and findings that are listed. Each list costs the thread that shows it about 1 ms to receive. */
export const MAX_LISTED = 1_000;
const NAMED_PATHS = 3;

/** The paths that are left out for one reason. */
export interface ExclusionGroup {
  readonly reason: ExclusionReason;
  readonly count: number;
  /** The first of them. */
  readonly paths: readonly string[];
}

/** The summary of a folder that is shown before it is sent. The selection itself can have half a million files and stays in its thread. */
export interface SelectedFolder {
  /** Identifies the selection in `Selections`. */
  readonly id: string;
  /** Absolute path. */
  readonly root: string;
  readonly fileCount: number;
  readonly totalBytes: number;
  readonly archiveBytes: number;
  /** The largest files, sorted by size. */
  readonly largest: readonly SelectedFile[];
  /** Command lines to offer: recent ones whose script would be sent, and scripts in the folder, best first. */
  readonly scripts: { readonly recent: readonly string[]; readonly found: readonly string[] };
  readonly exclusionCount: number;
  readonly exclusions: readonly ExclusionGroup[];
  /** Secrets first. */
  readonly listedExclusions: readonly Exclusion[];
  readonly secretCount: number;
  /** Paths that look like secrets, sent or not. */
  readonly secrets: readonly string[];
  readonly findingCount: number;
  readonly findings: Selection['findings'];
}

/** Summarizes a selection. `recentScripts` are the command lines used lately, newest first. */
export function summarizeSelection(
  id: string,
  selection: Selection,
  recentScripts: readonly string[] = [],
): SelectedFolder {
  const { root, files, totalBytes, excluded, findings } = selection;
  const groups = groupExclusions(excluded);
  const secrets = new Set(
    [...excluded.filter(({ reason }) => reason === 'secret'), ...findings.filter(({ type }) => type === 'secret')].map(
      ({ path }) => path,
    ),
  );
  const { recent, found } = suggestScripts(files, recentScripts);
  return {
    id,
    root,
    fileCount: files.length,
    totalBytes,
    archiveBytes: estimateArchiveBytes(selection),
    largest: [...files].sort((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1)).slice(0, MAX_LISTED),
    scripts: { recent, found: found.slice(0, MAX_LISTED) },
    exclusionCount: excluded.length,
    exclusions: groups.map(([reason, group]) => ({
      reason,
      count: group.length,
      paths: group.slice(0, NAMED_PATHS).map(({ path }) => path),
    })),
    listedExclusions: groups.flatMap(([, group]) => group).slice(0, MAX_LISTED),
    secretCount: secrets.size,
    secrets: [...secrets].slice(0, MAX_LISTED),
    findingCount: findings.length,
    findings: findings.slice(0, MAX_LISTED),
  };
}
