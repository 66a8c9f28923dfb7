import { dirname, join, posix, relative, sep } from 'node:path';
import { lstat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exclusion } from './exclusion.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { PrivateGitFolder } from '../git/privateGitFolder.ts';
import type { Repository } from '../git/repository.ts';
import { listFolder } from '../files/folderEntries.ts';

// Git lists most folders faster, and then nothing is searched.
const START_AFTER_MS = 1_000;

// The limit in newer versions of git (dir.c, PATTERN_MAX_FILE_SIZE).
const MOST_RULES_BYTES = 100 << 20;

export interface GitListing {
  /** Tracked files, including deleted ones, and untracked files that are not ignored. */
  readonly paths: ReadonlySet<string>;
  /** Ignored files and folders, inner repositories, and folders that git could not read. */
  readonly excluded: readonly Exclusion[];
  readonly trackedButIgnored: ReadonlySet<string>;
}

const STANDARD = ['--exclude-standard', '-z'];
// An index can contain any path: absolute ones, empty components, `..`, and git's own files.
const UNSAFE_PATH = /(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)/i;
const LIST_FILES = ['--literal-pathspecs', 'ls-files'];

/**
 * Git's listing of a folder. Undefined without git, for a folder that a repository above ignores completely (for example in a home folder
 * under git), and for ignore files on which git would wait forever.
 *
 * @param options.only limits the listing to these files and folders; empty for all.
 * @throws the signal's reason, or AppError `limit` if git hangs.
 */
export async function listByGit(
  root: string,
  repository: Repository,
  { only = [], signal }: { only?: readonly string[] | undefined; signal?: AbortSignal | undefined },
): Promise<GitListing | undefined> {
  const [blocked, done] = [new AbortController(), new AbortController()];
  const watching = abortIfBlocked(root, repository.top, { blocked, done: done.signal });
  try {
    await using git = await PrivateGitFolder.create(repository, signal);
    const either = signal === undefined ? blocked.signal : AbortSignal.any([signal, blocked.signal]);
    return git === undefined ? undefined : await list(git, root, { repository, only, signal: either });
  } catch (error) {
    if (blocked.signal.aborted) return undefined;
    throw error;
  } finally {
    done.abort();
    await watching;
  }
}

async function list(
  git: PrivateGitFolder,
  root: string,
  { repository, only, signal }: { repository: Repository; only: readonly string[]; signal: AbortSignal },
): Promise<GitListing | undefined> {
  const inside = relative(repository.top, root);
  if (inside !== '' && (await isIgnoredFromAbove(git, root, signal))) return undefined;

  const where = [...STANDARD, '--', ...only];
  const [files, ignored, trackedButIgnored] = await Promise.all([
    git.run(root, [...LIST_FILES, '--cached', '--others', ...where], { signal }),
    git.run(root, [...LIST_FILES, '--others', '--ignored', '--directory', ...where], { signal }),
    git.run(root, [...LIST_FILES, '--cached', '--ignored', ...where], { signal }),
  ]);
  if (files === undefined || ignored === undefined || trackedButIgnored === undefined) return undefined;
  const paths = new Set<string>();
  const excluded = await explain(git, root, { prefix: inside.split(sep).join('/'), items: ignored.items, signal });
  const yielder = new Yielder(signal);
  for (const item of files.items) {
    if (yielder.isDue) await yielder.pause();
    const path = item.endsWith('/') ? item.slice(0, -1) : item;
    if (UNSAFE_PATH.test(path)) excluded.push({ path, type: 'file', reason: 'special', rule: 'its path is not safe' });
    else if (path === item) paths.add(path);
    else excluded.push({ path, type: 'directory', reason: 'git', rule: 'inner repository' });
  }
  for (const [, folder = ''] of files.warnings.matchAll(/^warning: could not open directory '(.*?)\/?': /gm)) {
    excluded.push({ path: folder, type: 'directory', reason: 'unreadable', rule: 'folder cannot be listed' });
  }
  return { paths, excluded, trackedButIgnored: new Set(trackedButIgnored.items) };
}

async function isIgnoredFromAbove(git: PrivateGitFolder, root: string, signal?: AbortSignal): Promise<boolean> {
  const answer = await git.run(root, ['check-ignore', '-z', '--stdin'], { input: ['.'], signal });
  return answer !== undefined && answer.items.length > 0;
}

/** Asks git which rule ignores each path, and where that rule is. */
async function explain(
  git: PrivateGitFolder,
  root: string,
  { prefix, items, signal }: { prefix: string; items: readonly string[]; signal: AbortSignal | undefined },
): Promise<Exclusion[]> {
  if (items.length === 0) return [];
  const answer = await git.run(root, ['check-ignore', '-v', '-z', '--stdin'], { input: items, signal });
  const fields = answer?.items ?? [];
  const excluded: Exclusion[] = [];
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [source = '', line = '', rule = '', item = ''] = fields.slice(i, i + 4);
    if (rule.startsWith('!')) continue;
    excluded.push({
      path: item.replace(/\/$/, ''),
      type: item.endsWith('/') ? 'directory' : 'file',
      reason: 'gitignore',
      rule,
      at: `${placeOf(git.originalName(source), prefix)}:${line}`,
    });
  }
  return excluded;
}

function placeOf(source: string, prefix: string): string {
  return posix.isAbsolute(source) ? source : posix.relative(prefix, source);
}

/**
 * Aborts `blocked` if git, while listing the files of `root`, waits forever for an ignore file that is a pipe or larger than memory. Only
 * searches for such files if git is slow. Returns when `done` aborts or everything was checked.
 */
export async function abortIfBlocked(
  root: string,
  top: string,
  { blocked, done }: { readonly blocked: AbortController; readonly done: AbortSignal },
): Promise<void> {
  try {
    await sleep(START_AFTER_MS, undefined, { signal: done, ref: false });
    if ((await isBlockedAbove(root, top)) || (await isBlockedBelow(root, done))) blocked.abort();
  } catch {
    // Git has finished in the meantime.
  }
}

async function isBlockedAbove(root: string, top: string): Promise<boolean> {
  for (let folder = root; folder !== top; folder = dirname(folder)) {
    if (await isBlocking(join(dirname(folder), '.gitignore'))) return true;
  }
  return false;
}

async function isBlockedBelow(root: string, done: AbortSignal): Promise<boolean> {
  const yielder = new Yielder(done);
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    done.throwIfAborted();
    for (const { name, isFolder } of await listFolder(folder, yielder).catch(() => [])) {
      const path = join(folder, name);
      // In an inner repository, git reads `HEAD`.
      if (name === '.git' ? folder !== root && (await isBlocking(join(path, 'HEAD'))) : false) return true;
      if (name === '.gitignore' && (await isBlocking(path))) return true;
      if (isFolder && name !== '.git') folders.push(path);
    }
  }
  return false;
}

async function isBlocking(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory() || stats.isSymbolicLink()) return false;
  return !stats.isFile() || stats.size > MOST_RULES_BYTES;
}
