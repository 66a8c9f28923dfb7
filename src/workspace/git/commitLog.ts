import { realpath } from 'node:fs/promises';
import { readGitCommit } from './gitCommit.ts';
import { PrivateGitFolder } from './privateGitFolder.ts';
import { findRepository } from './repository.ts';

// About as many as are relevant for the current files.
const MOST_COMMITS = 5000;
const MOST_MESSAGE = 2000;
// A commit that changes more files says little about each of them.
const MOST_PATHS = 50;
const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
// No path relative to a folder begins with this.
const COMMIT_MARK = '//';
interface KnownCommits {
  readonly head: string | undefined;
  readonly ids: ReadonlySet<string>;
}

interface LoggedCommit {
  readonly id: string;
  /** The first 2,000 characters; empty if the commit changed no file of the folder, or more than 50. */
  readonly message: string;
  /** The files of the folder that it changed, relative to the folder, with '/'. */
  readonly paths: readonly string[];
}

interface CommitLog {
  /** The current commit; undefined where there is none. */
  readonly head: string | undefined;
  /** The newest first. */
  readonly ids: readonly string[];
  /** Those of them that were not known. */
  readonly added: readonly LoggedCommit[];
}

/**
 * Reads the last 5,000 commits of a folder that are no merges. Git runs without the repository's
 * configuration, fetches nothing and writes nothing. There are no commits outside a repository, in one of another user, and where git
 * lacks the objects.
 *
 * @returns undefined if the current commit is the known one.
 * @throws AppError `limit` if git hangs; the signal's reason on abort.
 */
export async function readCommits(
  folder: string,
  { known, signal }: { readonly known: KnownCommits; readonly signal: AbortSignal },
): Promise<CommitLog | undefined> {
  const root = await realpath(folder);
  const [repository, head] = await Promise.all([findRepository(root), readGitCommit(root)]);
  if (head === (known.head ?? null)) return undefined;
  if (repository?.isOwn !== true || head === null) return { head: undefined, ids: [], added: [] };
  await using git = await PrivateGitFolder.create(repository, signal);
  const list = ['rev-list', '--no-merges', '-n', String(MOST_COMMITS), head];
  const listing = await git?.run(root, list, { signal });
  const ids = (listing?.items[0] ?? '').split('\n').filter((id) => ID.test(id));
  const oldest = ids.findLastIndex((id) => !known.ids.has(id));
  if (git === undefined || oldest < 0) return { head, ids, added: [] };
  const reader = new LogReader();
  const format = `--format=${COMMIT_MARK}%H%x00%B%x00`;
  const log = ['log', '-z', '--no-merges', '--no-renames', '--name-only', '--relative', format];
  const answer = await git.run(root, [...log, '-n', String(oldest + 1), head], {
    onItem: (item) => reader.take(item),
    signal,
  });
  if (answer === undefined) return { head, ids: [], added: [] };
  return { head, ids, added: reader.commits.filter(({ id }) => !known.ids.has(id)) };
}

/** Assembles commits from the items of a log: the mark with the ID, the message, and the paths after an empty item. */
class LogReader {
  readonly #commits: { readonly id: string; readonly message: string; readonly paths: string[] }[] = [];
  #id: string | undefined;

  get commits(): readonly LoggedCommit[] {
    return this.#commits.map(({ id, message, paths }) => {
      const isEvidence = paths.length > 0 && paths.length <= MOST_PATHS;
      return isEvidence ? { id, message, paths } : { id, message: '', paths: [] };
    });
  }

  take(item: string): void {
    if (this.#id !== undefined) {
      this.#commits.push({ id: this.#id, message: item.trim().slice(0, MOST_MESSAGE), paths: [] });
      this.#id = undefined;
    } else if (item.startsWith(COMMIT_MARK)) {
      this.#id = item.slice(COMMIT_MARK.length);
    } else {
      const paths = this.#commits.at(-1)?.paths;
      // The first path follows a line feed.
      const path = paths?.length === 0 ? item.replace(/^\n/, '') : item;
      if (path !== '' && paths !== undefined && paths.length <= MOST_PATHS) paths.push(path);
    }
  }
}
