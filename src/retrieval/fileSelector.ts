import type { ListedFile } from './indexedFile.ts';
import type { OpenFolder, PassedOver } from './indexService.ts';

interface SelectorOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Decides which files of a folder belong to its index. */
export type SelectFiles = (
  folder: OpenFolder,
  options: SelectorOptions,
) => Promise<{ readonly files: readonly ListedFile[]; readonly excluded: readonly PassedOver[] }>;
