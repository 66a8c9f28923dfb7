import { AppError } from '../../core/errors.ts';
import type { ManifestEntry } from '../../workspace/pack/pack.ts';
import { readArchivedFiles } from './archivedFiles.ts';
import { ArchiveStore } from './archives.ts';
import { changesBetween, changesSince, type ComparisonOptions, type FileChange } from './fileChanges.ts';

interface Child {
  readonly name: string;
  readonly isFolder: boolean;
}

/**
 * The files that were submitted with jobs, as they were then. Jobs are named by our own IDs. All methods throw AppError `missing` for a
 * job whose files are no longer stored.
 */
export class SubmittedFiles {
  readonly #store: ArchiveStore;

  /** @param home FARWHARF_HOME. */
  constructor(home: string) {
    this.#store = new ArchiveStore(home);
  }

  /** All files of a job. */
  async list(id: string): Promise<readonly ManifestEntry[]> {
    const manifest = await this.#store.readManifest(id);
    if (manifest === undefined) throw noLongerStored();
    return manifest;
  }

  /** The files and folders directly in a folder of a job; `''` is the folder that was submitted. Empty if it does not exist. */
  async children(id: string, folder: string): Promise<readonly Child[]> {
    const prefix = folder === '' ? '' : `${folder}/`;
    const children = new Map<string, Child>();
    for (const { path } of await this.list(id)) {
      if (!path.startsWith(prefix)) continue;
      const [name = '', ...rest] = path.slice(prefix.length).split('/');
      children.set(name, { name, isFolder: rest.length > 0 });
    }
    return [...children.values()];
  }

  /** What has changed in a folder since the job was submitted. Throws as `changesSince` too. */
  async changesSince(id: string, folder: string, options: ComparisonOptions): Promise<readonly FileChange[]> {
    return changesSince(await this.list(id), folder, options);
  }

  /** What changed from the files of one job to those of another. */
  async changesBetween(id: string, otherId: string): Promise<readonly FileChange[]> {
    return changesBetween(await this.list(id), await this.list(otherId));
  }

  /** Files of a job by their paths, as `readArchivedFiles` returns them. */
  async read(
    id: string,
    paths: readonly string[],
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    try {
      return await readArchivedFiles(await this.#store.packedFiles(id), new Set(paths), options.signal);
    } catch (error) {
      if (error instanceof AppError && error.code === 'missing') throw noLongerStored(error);
      throw error;
    }
  }
}

function noLongerStored(cause?: unknown): AppError {
  return new AppError('missing', 'The files of this job are no longer stored on this machine.', { cause });
}
