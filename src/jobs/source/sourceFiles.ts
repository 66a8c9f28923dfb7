import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobRecord } from '../ledger/record.ts';
import { workspacePaths } from './workspacePath.ts';

export interface PrintedFile {
  /** Relative to the folder that was submitted, with `/`. */
  readonly path: string;
  /** Absolute path. */
  readonly file: string;
  /** Whether the file was saved after the job was submitted, so that line numbers may differ. */
  readonly isChanged: boolean;
}

// Output can name any number of files, and each costs system calls.
const MAX_FILES = 500;

/** Finds the files of a job's folder that its output names. Looks at each path once; create another one to see later changes. */
export class SourceFiles {
  readonly #folder: string;
  readonly #submittedAt: number;
  readonly #found = new Map<string, Promise<PrintedFile | undefined>>();

  constructor({ folder, createdAt }: Pick<JobRecord, 'folder' | 'createdAt'>) {
    this.#folder = folder;
    this.#submittedAt = Date.parse(createdAt);
  }

  /** The file for a path as the output prints it; undefined if it is not in the folder, or after 500 different paths. */
  async find(printedPath: string): Promise<PrintedFile | undefined> {
    const search = this.#found.get(printedPath);
    if (search !== undefined || this.#found.size >= MAX_FILES) return search;
    const found = this.#search(printedPath);
    this.#found.set(printedPath, found);
    return found;
  }

  async #search(printedPath: string): Promise<PrintedFile | undefined> {
    for (const path of workspacePaths(printedPath)) {
      const file = join(this.#folder, path);
      const stats = await stat(file).catch(() => undefined);
      if (stats?.isFile()) return { path, file, isChanged: stats.mtimeMs > this.#submittedAt };
    }
    return undefined;
  }
}
