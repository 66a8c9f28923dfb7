import type { ListedFile } from '../building/indexedFile.ts';
import type { PassedOver } from './indexService.ts';

export interface Selected {
  readonly files: readonly ListedFile[];
  readonly excluded: readonly PassedOver[];
}

interface InspectOptions {
  /** Whether a file belonged to the folder when it had this size and time, so that its content need not be judged again. */
  readonly isKnown: (file: ListedFile) => boolean;
  readonly signal: AbortSignal;
}

interface SelectOptions extends InspectOptions {
  /** Whether git may be run. */
  readonly isTrusted: boolean;
  /** Files and folders that are looked at alone; without it everything. */
  readonly only?: readonly string[] | undefined;
}

/** Decides which files of a folder belong to its index. */
export interface FileSelector {
  /** @throws AppError when the folder cannot be read; the signal's reason on abort. */
  select(root: string, options: SelectOptions): Promise<Selected>;

  /** Which of some files that belonged to it still do, by what they are and hold; rules are not asked. */
  inspect(root: string, paths: readonly string[], options: InspectOptions): Promise<Selected>;
}
