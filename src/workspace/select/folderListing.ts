import { realpath } from 'node:fs/promises';
import { join, posix, relative, sep } from 'node:path';
import { IgnoreRules, readRules } from '../git/ignoreRules.ts';
import { findRepository, type Repository } from '../git/repository.ts';
import { entryExists } from '../files/folderEntries.ts';
import type { Exclusion } from './exclusion.ts';
import { FolderWalk, innerRepository, type Walked } from './folderWalk.ts';
import { type GitListing, listByGit } from './gitListing.ts';
import { ListedFiles } from './listedFiles.ts';
import { PathScope } from './pathScope.ts';

const GITIGNORE = '.gitignore';

export interface ListingOptions {
  /** Whether git may be run in this folder. */
  readonly isTrusted: boolean;
  /** Limits the listing to these files and folders. */
  readonly only?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What the rules of a folder send and leave out, unordered. */
export interface FolderListing extends Walked {
  readonly trackedButIgnored: ReadonlySet<string>;
  /** The repository that the folder is in, if it belongs to another user, so that git was not run. */
  readonly foreign: Repository | undefined;
}

/**
 * Lists a folder by the rules of its repository and its `.farwharfignore` files. A repository inside it is listed if these files include
 * it, by its own rules.
 *
 * @throws AppError `limit` if git hangs; the signal's reason on abort.
 */
export async function listFolderFiles(folder: string, options: ListingOptions): Promise<FolderListing> {
  return list(folder, options, false);
}

/**
 * Lists a repository inside a folder by its own rules, together with all repositories in it. The paths begin with `path`.
 *
 * @param absolute where the repository is.
 */
export async function listInnerRepository(
  absolute: string,
  path: string,
  { isTrusted, signal }: Pick<ListingOptions, 'isTrusted' | 'signal'>,
): Promise<Walked> {
  const { files, excluded } = await list(absolute, { isTrusted, signal }, true);
  const inside = (at: string): string => (posix.isAbsolute(at) ? at : posix.join(path, at));
  return {
    files: files.map((file) => `${path}/${file}`),
    excluded: excluded.map((one): Exclusion => {
      const moved = { ...one, path: one.path === '' ? path : `${path}/${one.path}` };
      return one.at === undefined ? moved : { ...moved, at: inside(one.at) };
    }),
  };
}

async function list(
  folder: string,
  { isTrusted, only, signal }: ListingOptions,
  takesAll: boolean,
): Promise<FolderListing> {
  const scope = only === undefined ? undefined : new PathScope(only);
  const real = await realpath(folder);
  const repository = await findRepository(real);
  const isForeign = repository?.isOwn === false;
  const listing = isTrusted && repository?.isOwn ? await listByGit(real, repository, { only, signal }) : undefined;
  const ownRules = new IgnoreRules(folder, '.farwharfignore');
  const repositories = {
    takesAll,
    list: async (path: string): Promise<Walked> => {
      const inner = await listInnerRepository(join(folder, path), path, { isTrusted, signal });
      return within(scope, await obeying(ownRules, path, inner));
    },
  };
  const rules = { ...(await readRepositoryRules(real, repository)), own: ownRules };
  const walk = new FolderWalk(folder, rules, repositories, { scope, signal });
  const { files, excluded } =
    listing === undefined
      ? await walk.walk('')
      : await new ListedFiles(folder, { own: ownRules, walk, repositories }, signal).refine(
          await withRepositories(listing, folder, only),
        );
  return {
    files,
    excluded,
    trackedButIgnored: listing?.trackedButIgnored ?? new Set(),
    foreign: isTrusted && isForeign ? repository : undefined,
  };
}

/** Git lists nothing for a path inside another repository. */
async function withRepositories(listing: GitListing, root: string, only: readonly string[] = []): Promise<GitListing> {
  const excludedPaths = new Set(listing.excluded.map(({ path }) => path));
  const excluded = [...listing.excluded];
  for (const path of only) {
    for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end);
      if (excludedPaths.has(folder) || listing.paths.has(folder) || !(await entryExists(join(root, folder, '.git'))))
        continue;
      excludedPaths.add(folder);
      excluded.push(innerRepository(folder));
      break;
    }
  }
  return { ...listing, excluded };
}

/** What is left of a repository after the rules of the folders above it, which may leave out some of what they include. */
async function obeying(ownRules: IgnoreRules, path: string, { files, excluded }: Walked): Promise<Walked> {
  const slash = path.lastIndexOf('/');
  const rules = await ownRules.enter(slash === -1 ? '' : path.slice(0, slash), true);
  if (rules.patterns.length === 0) return { files, excluded };
  const remaining: Walked = { files: [], excluded: [...excluded] };
  for (const file of files) {
    const { isIgnored, rule, at } = rules.test(file);
    if (isIgnored) remaining.excluded.push({ path: file, type: 'file', reason: 'farwharfignore', rule, at });
    else remaining.files.push(file);
  }
  return remaining;
}

function within(scope: PathScope | undefined, { files, excluded }: Walked): Walked {
  if (scope === undefined) return { files, excluded };
  return {
    files: files.filter((path) => scope.holds(path)),
    excluded: excluded.filter(({ path }) => scope.touches(path)),
  };
}

/**
 * Git's ignore rules for `root`, read without git: those of its repository from the top down, and `.git/info/exclude`. `prefix` is the
 * path from the top to the root. The rules start at the root itself if there is no repository, or if the repository ignores the root.
 */
export async function readRepositoryRules(
  root: string,
  repository: Repository | undefined,
): Promise<{ git: IgnoreRules; prefix: string }> {
  if (repository === undefined) return { git: new IgnoreRules(root, GITIGNORE), prefix: '' };
  const { top, commonFolder, isOwn } = repository;
  const first = isOwn ? await readRules(join(commonFolder, 'info/exclude'), '', '.git/info/exclude') : [];
  const git = new IgnoreRules(top, GITIGNORE, first);
  const folder = relative(top, root).split(sep).join('/');
  if (folder === '') return { git, prefix: '' };
  let above = '';
  for (const part of folder.split('/')) {
    const rules = await git.enter(above, true);
    above = above === '' ? part : `${above}/${part}`;
    if (rules.test(`${above}/`).isIgnored) return { git: new IgnoreRules(root, GITIGNORE), prefix: '' };
  }
  return { git, prefix: `${folder}/` };
}
