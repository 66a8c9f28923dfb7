import type { JobRecord } from '../../jobs/ledger/record.ts';
import { startedNotebook } from '../../jobs/selection/script.ts';
import { SourceFiles } from '../../jobs/source/sourceFiles.ts';
import { findReferences, type SourceReference } from '../../jobs/source/sourceReference.ts';

/** Finds where the last lines of a job's output name code of its folder. */
export class PageLinks {
  readonly #files: SourceFiles;
  readonly #notebook: string | undefined;
  #found: ReadonlyMap<string, readonly SourceReference[]> = new Map();

  constructor(record: JobRecord) {
    this.#files = new SourceFiles(record);
    this.#notebook = startedNotebook(record);
  }

  /** Looks for the files that these lines name. Returns whether `of` has changed. */
  async search(lines: readonly string[]): Promise<boolean> {
    const unknown = lines.filter((line) => !this.#found.has(line));
    if (unknown.length === 0) return false;
    const found = await Promise.all(unknown.map(async (line) => [line, await this.#own(line)] as const));
    const known = lines.flatMap((line) => {
      const references = this.#found.get(line);
      return references === undefined ? [] : [[line, references] as const];
    });
    this.#found = new Map([...known, ...found]);
    return found.some(([, references]) => references.length > 0);
  }

  /** The references in a line, as far as they have been looked for. */
  of(line: string): readonly SourceReference[] {
    return this.#found.get(line) ?? [];
  }

  async #own(line: string): Promise<readonly SourceReference[]> {
    const references = findReferences(line, this.#notebook);
    const files = await Promise.all(references.map(({ path }) => this.#files.find(path)));
    return references.filter((_, index) => files[index] !== undefined);
  }
}
