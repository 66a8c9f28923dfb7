import type { TermQuery } from '../search/termQuery.ts';
import type { ReadCommits } from './commit.ts';
import { readCommitFile, type StoredHistory, writeCommitFile } from './commitFile.ts';
import { CommitIndex } from './commitIndex.ts';

/** The last commits of a folder, which are evidence for its ranking; stored with its index. */
export class FolderHistory {
  readonly #root: string;
  /** Where it is stored. */
  readonly #folder: string;
  #stored: StoredHistory;
  #index: CommitIndex;

  private constructor(root: string, folder: string, stored: StoredHistory) {
    this.#root = root;
    this.#folder = folder;
    this.#stored = stored;
    this.#index = new CommitIndex(stored.commits);
  }

  static async open(root: string, folder: string): Promise<FolderHistory> {
    return new FolderHistory(root, folder, await readCommitFile(folder));
  }

  /** How much past commits speak for each file, from 0 to 1 for the best. */
  votes(query: TermQuery): ReadonlyMap<string, number> {
    return this.#index.votes(query);
  }

  /**
   * Reads the commits that are new, and forgets those that are no longer among the last ones, such as after a rebase.
   *
   * @throws what `read` does, or the system's error if they cannot be stored; they are used all the same.
   */
  async update(
    read: ReadCommits,
    options: { readonly signal: AbortSignal; readonly isStored: boolean },
  ): Promise<void> {
    const known = new Map(this.#stored.commits.map((commit) => [commit.id, commit]));
    const { head } = this.#stored;
    const list = await read(this.#root, { known: { head, ids: new Set(known.keys()) }, signal: options.signal });
    if (list === undefined) return;
    for (const commit of list.added) known.set(commit.id, commit);
    await this.#replace({ head: list.head, commits: list.ids.flatMap((id) => known.get(id) ?? []) }, options);
  }

  /** Forgets all commits. */
  async clear(options: { readonly isStored: boolean }): Promise<void> {
    if (this.#stored.head !== undefined) await this.#replace({ head: undefined, commits: [] }, options);
  }

  async #replace(history: StoredHistory, { isStored }: { readonly isStored: boolean }): Promise<void> {
    this.#stored = history;
    this.#index = new CommitIndex(history.commits);
    if (isStored) await writeCommitFile(this.#folder, history);
  }
}
