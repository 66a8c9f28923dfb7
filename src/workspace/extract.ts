export interface StagedEntry {
  /** Relative to the target folder, with `/`. */
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  readonly sha256: string;
}

export interface SkippedEntry {
  readonly path: string;
  readonly reason: string;
}

export interface StagedArchive {
  /** Absolute path of the staging folder, inside the target folder. */
  readonly staging: string;
  readonly entries: readonly StagedEntry[];
  /** Links and special files, which are never created. */
  readonly skipped: readonly SkippedEntry[];
  readonly totalBytes: number;
}

export interface ArchiveLimits {
  readonly totalBytes: number;
  readonly entries: number;
  readonly depth: number;
  /** Unpacked bytes for each packed byte, counted once 10 MB are unpacked. */
  readonly ratio: number;
}

export interface StageOptions {
  readonly limits?: Partial<ArchiveLimits>;
  readonly signal?: AbortSignal;
  /** Counts bytes of the archive itself. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/**
 * Unpacks an archive into a new staging folder inside `folder`.
 *
 * @throws AppError `refused`, `corrupt`, `limit` or `no-space`; `folder` is then as it was.
 */
export async function stageArchive(
  _archive: string,
  _folder: string,
  _options: StageOptions = {},
): Promise<StagedArchive> {
  throw new Error('not built yet');
}

/** Removes the staging folder and what is left in it. */
export async function discardStaged(_staged: StagedArchive): Promise<void> {
  throw new Error('not built yet');
}
