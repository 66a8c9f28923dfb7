/** A past commit, which indicates what its files are about. */
export interface Commit {
  readonly id: string;
  /** The beginning of its message; empty if the commit is irrelevant for the folder's files. */
  readonly message: string;
  /** The files that it changed, relative to the folder, with '/'. */
  readonly paths: readonly string[];
}

/** The history of a folder. */
interface CommitList {
  /** The current commit; undefined where there is none. */
  readonly head: string | undefined;
  /** The last commits, the newest first. */
  readonly ids: readonly string[];
  /** Those of them that were not known. */
  readonly added: readonly Commit[];
}

/** What is known about the history of a folder. */
interface KnownCommits {
  readonly head: string | undefined;
  readonly ids: ReadonlySet<string>;
}

/**
 * Reads the last commits of a folder; none where there is no repository that can be read.
 *
 * @returns undefined if the current commit is the known one.
 * @throws AppError `limit` if that takes too long; the signal's reason on abort.
 */
export type ReadCommits = (
  folder: string,
  options: { readonly known: KnownCommits; readonly signal: AbortSignal },
) => Promise<CommitList | undefined>;
