import { realpath } from 'node:fs/promises';
import { basename, dirname, relative, sep } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { readGitCommit } from './gitCommit.ts';
import { PrivateGitFolder } from './privateGitFolder.ts';
import { findRepository } from './repository.ts';

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const MOST_REVISIONS = 100;
const MOST_FILES = 500;
const MOST_BYTES = 20_000_000;

/** A commit that changed a file. */
export interface FileRevision {
  readonly commit: string;
  /** ISO 8601. */
  readonly at: string;
  /** The first line of its message. */
  readonly subject: string;
}

/**
 * The commits that changed a file, the newest first; git runs without the repository's configuration and writes nothing.
 *
 * @returns an empty list outside a repository, in one of another user, and before the first commit.
 * @throws the signal's reason, or AppError `limit` if git hangs.
 */
export async function fileRevisions(file: string, signal?: AbortSignal): Promise<readonly FileRevision[]> {
  const folder = await realpath(dirname(file));
  const [repository, commit] = await Promise.all([findRepository(folder), readGitCommit(folder)]);
  if (repository?.isOwn !== true || commit === null) return [];
  await using git = await PrivateGitFolder.create(repository, signal);
  const format = ['log', '-z', '--format=%H %cI %s', '-n', String(MOST_REVISIONS), commit, '--', basename(file)];
  const answer = await git?.run(folder, format, { signal });
  return (answer?.items ?? []).flatMap((item) => {
    const [name = '', at = '', ...subject] = item.split(' ');
    return COMMIT.test(name) ? [{ commit: name, at, subject: subject.join(' ') }] : [];
  });
}

/** The files of a commit, read into memory; nothing is checked out. Dispose it after use. */
export class CommitFiles implements AsyncDisposable {
  readonly #git: PrivateGitFolder;
  readonly #top: string;
  readonly #commit: string;
  #files = 0;
  #bytes = 0;

  private constructor(git: PrivateGitFolder, top: string, commit: string) {
    this.#git = git;
    this.#top = top;
    this.#commit = commit;
  }

  /** @param near a file of the repository. @throws AppError `missing` if there is no repository that git can read, `bad-input`. */
  static async open(near: string, commit: string): Promise<CommitFiles> {
    if (!COMMIT.test(commit)) throw new AppError('bad-input', 'A revision is the full hash of a commit.');
    const repository = await findRepository(await realpath(dirname(near)));
    const git = repository?.isOwn === true ? await PrivateGitFolder.create(repository) : undefined;
    if (repository === undefined || git === undefined) {
      throw new AppError('missing', 'This file is not in a git repository that belongs to you.');
    }
    return new CommitFiles(git, repository.top, commit);
  }

  /**
   * The text of a file in the commit; undefined if the commit does not have it.
   *
   * @throws AppError `limit` for more files or bytes than are read.
   */
  async read(file: string): Promise<string | undefined> {
    const path = relative(this.#top, file).split(sep).join('/');
    if (path === '' || path.startsWith('../')) return undefined;
    const name = `${this.#commit}:${path}`;
    const listing = await this.#git.run(this.#top, ['ls-tree', '-z', '-l', '--full-tree', this.#commit, '--', path]);
    const bytes = Number(/^\d{6} blob [0-9a-f]+ +(\d+)\t/.exec(listing?.items[0] ?? '')?.[1]);
    if (!Number.isFinite(bytes)) return undefined;
    this.#files += 1;
    this.#bytes += bytes;
    if (this.#files > MOST_FILES || this.#bytes > MOST_BYTES) {
      const most = formatBytes(MOST_BYTES);
      throw new AppError('limit', `The flow of that revision needs more than ${MOST_FILES} files or ${most}.`);
    }
    const answer = await this.#git.run(this.#top, ['cat-file', 'blob', name]);
    if (answer === undefined) return undefined;
    return answer.items.join('\0') + (answer.endsWithNul ? '\0' : '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#git[Symbol.asyncDispose]();
  }
}
