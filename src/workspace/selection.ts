/** Why something stays at home. */
export type ExclusionReason =
  | 'gitignore'
  | 'farwharfignore'
  | 'git' // git's own data, and inner repositories
  | 'secret'
  | 'venv'
  | 'cache'
  | 'link'
  | 'special' // devices, sockets, pipes, and names that no archive can carry safely
  | 'unreadable'
  | 'limit';

export interface SelectedFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Permission bits: 0o644 or 0o755. */
  readonly mode: number;
  readonly mtimeMs: number;
}

export interface Exclusion {
  readonly path: string;
  readonly type: 'file' | 'directory';
  readonly reason: ExclusionReason;
  /** The pattern or the name of the rule that decided. */
  readonly rule?: string;
  /** Where the rule stands: `sub/.gitignore:3`. */
  readonly at?: string;
}

/** Something a person should see before the files are sent. */
export interface Finding {
  readonly type: 'secret' | 'large-file' | 'tracked-but-ignored' | 'changed-while-reading';
  readonly path: string;
  readonly message: string;
}

export interface Selection {
  /** Absolute path of the folder. */
  readonly root: string;
  /** Sorted by the bytes of their paths. */
  readonly files: readonly SelectedFile[];
  readonly excluded: readonly Exclusion[];
  readonly totalBytes: number;
  readonly findings: readonly Finding[];
}

export interface SelectOptions {
  /** Whether git may be run in this folder. */
  readonly isTrusted: boolean;
  /** Paths chosen by a person: they override an exclusion, secrets too. */
  readonly include?: readonly string[];
  /** Paths taken out by a person. */
  readonly exclude?: readonly string[];
  readonly maxFileBytes?: number;
  readonly maxTotalBytes?: number;
  readonly maxFiles?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (files: number) => void;
}

/** Decides what of a folder is sent; everything else is in `excluded` with its reason. */
export async function selectFiles(_root: string, _options: SelectOptions): Promise<Selection> {
  throw new Error('not built yet');
}

/** About how many bytes the archive of a selection will have. */
export function estimateArchiveBytes(_selection: Selection): number {
  throw new Error('not built yet');
}
