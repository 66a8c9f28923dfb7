import type { ListedFile } from '../building/indexedFile.ts';
import type { SkippedPath } from './indexService.ts';

export interface Selected {
  readonly files: readonly ListedFile[];
  readonly excluded: readonly SkippedPath[];
}

interface InspectOptions {
  /** Whether a file was selected when it had this size and time, so that its content need not be inspected again. */
  readonly isKnown: (file: ListedFile) => boolean;
  readonly signal: AbortSignal;
}

interface SelectOptions extends InspectOptions {
  /** Whether git may be run. */
  readonly isTrusted: boolean;
  /** Limits the check to these files and folders; undefined for everything. */
  readonly only?: readonly string[] | undefined;
}

/** Decides which files of a folder are indexed. */
export interface FileSelector {
  /** @throws AppError if the folder cannot be read; the signal's reason on abort. */
  select(root: string, options: SelectOptions): Promise<Selected>;

  /** Which of some selected files still qualify by type and content. Ignore rules are not checked. */
  inspect(root: string, paths: readonly string[], options: InspectOptions): Promise<Selected>;
}
