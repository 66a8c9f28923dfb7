import { constants } from 'node:fs';
import { access, lstat, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as l10n from '@vscode/l10n';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { Exclusion } from './exclusion.ts';
import { inspectFiles } from './fileInspection.ts';
import { isPackedName } from '../files/fileKinds.ts';
import { FolderWalk, type Walked } from './folderWalk.ts';
import { type GitListing, listByGit } from './gitListing.ts';
import { IgnoreRules } from '../git/ignoreRules.ts';
import { ListedFiles } from './listedFiles.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { sortByPath } from './pathOrder.ts';
import { PathScope } from './pathScope.ts';
import { findRepository, type Repository } from '../git/repository.ts';
import { readRepositoryRules } from './repositoryRules.ts';
import type { Finding, SelectedFile } from '../files/selectedFile.ts';

export type { Exclusion, ExclusionReason } from './exclusion.ts';
export type { SelectedFile } from '../files/selectedFile.ts';

export interface Selection {
  /** Absolute path of the folder. */
  readonly root: string;
  /** Sorted by the bytes of their paths. */
  readonly files: readonly SelectedFile[];
  readonly excluded: readonly Exclusion[];
  readonly totalBytes: number;
  readonly findings: readonly Finding[];
}

export interface SelectOptions {
  /** Whether git may be run in this folder. */
  readonly isTrusted: boolean;
  /** Files and folders that the user included, which overrides exclusions, even of secrets. */
  readonly include?: readonly string[] | undefined;
  /** Files and folders that the user left out. */
  readonly exclude?: readonly string[] | undefined;
  /** Limits the selection to these files and folders. */
  readonly only?: readonly string[] | undefined;
  /** Whether a file with this size and time is known to contain no secret; then it is not read again. */
  readonly isKnown?: ((file: SelectedFile) => boolean) | undefined;
  readonly maxFileBytes?: number | undefined;
  readonly maxTotalBytes?: number | undefined;
  readonly maxFiles?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((files: number) => void) | undefined;
}

const MOST_FILE_BYTES = 10e9;
const MOST_TOTAL_BYTES = 20e9;
const MOST_FILES = 500_000;
// For the estimate: the compressed size of a tar header, and the compression ratio of text.
const HEADER_BYTES = 60;
const TEXT_RATIO = 0.3;

/**
 * Selects the files of a folder to send: those listed by `git ls-files -co --exclude-standard` if git may be run, else by the ignore files,
 * without virtual environments, caches, secrets, links and special files. `excluded` contains everything else with its reason; a folder
 * that is excluded completely is one entry. No file is changed, no link followed.
 *
 * @throws AppError `missing`, `bad-input` (not a folder, or a choice outside it), `permission`, or `limit` if the selection is too large;
 * the signal's reason on abort.
 */
export async function selectFiles(root: string, options: SelectOptions): Promise<Selection> {
  const { isTrusted, signal, onProgress } = options;
  const folder = resolve(root);
  signal?.throwIfAborted();
  await assertFolder(folder);
  const include = (options.include ?? []).map((path) => insidePath(folder, path));
  const exclude = new PathScope((options.exclude ?? []).map((path) => insidePath(folder, path)));
  const only = options.only === undefined ? undefined : options.only.map((path) => insidePath(folder, path));
  const scope = only === undefined ? undefined : new PathScope(only);

  const real = await realpath(folder);
  const repository = await findRepository(real);
  const listing = isTrusted && repository?.isOwn ? await listByGit(real, repository, { only, signal }) : undefined;
  const own = new IgnoreRules(folder, '.farwharfignore');
  const walk = new FolderWalk(folder, { ...(await readRepositoryRules(real, repository)), own }, { scope, signal });
  const found =
    listing === undefined ? await walk.walk('') : await new ListedFiles(folder, own, walk, signal).refine(listing);
  const chosen = await findIncluded(folder, include, walk);
  const wanted = chosen.files.length === 0 ? found.files : [...new Set([...found.files, ...chosen.files])];
  const taken = exclude.isEmpty ? [] : wanted.filter((path) => exclude.holds(path));
  const kept = exclude.isEmpty ? wanted : wanted.filter((path) => !exclude.holds(path));

  const yielder = new Yielder(signal);
  const inspected = await inspectFiles(folder, await sortByPath(kept, (path) => path, yielder), {
    chosen: new Set(chosen.files),
    maxFileBytes: options.maxFileBytes ?? MOST_FILE_BYTES,
    isKnown: options.isKnown,
    signal,
    onProgress,
  });
  const overridden = new Set([...include, ...chosen.files]);
  const leftOut = [
    ...found.excluded.filter(({ path }) => !overridden.has(path) && (scope?.touches(path) ?? true)),
    ...chosen.excluded,
    ...inspected.excluded,
    ...taken.map((path): Exclusion => ({ path, type: 'file', reason: 'user' })),
  ];
  const excluded = await sortByPath(leftOut, ({ path }) => path, yielder);
  const selection: Selection = {
    root: folder,
    files: inspected.files,
    excluded,
    totalBytes: inspected.totalBytes,
    findings: [
      ...inspected.findings,
      ...trackedFindings(inspected.files, listing),
      ...(isTrusted && repository?.isOwn === false ? [foreignFinding(repository)] : []),
    ],
  };
  assertWithinLimits(selection, options);
  return selection;
}

async function findIncluded(root: string, include: readonly string[], walk: FolderWalk): Promise<Walked> {
  const found: Walked = { files: [], excluded: [] };
  for (const path of include) {
    const stats = await lstat(join(root, path)).catch(() => undefined);
    if (stats?.isDirectory()) {
      const inside = await walk.walkChosen(path);
      for (const file of inside.files) found.files.push(file);
      for (const exclusion of inside.excluded) found.excluded.push(exclusion);
    } else if (stats !== undefined) found.files.push(path);
  }
  return found;
}

/** @throws AppError `missing` if the folder does not exist, `bad-input` if it is a file, `permission` if it cannot be read. */
export async function assertFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch((error: unknown) => {
    throw folderFailure(error, folder);
  });
  if (!stats.isDirectory()) throw new AppError('bad-input', `${folder} is a file. Enter the folder that contains it.`);
  await access(folder, constants.R_OK | constants.X_OK).catch((error: unknown) => {
    throw folderFailure(error, folder);
  });
}

function folderFailure(error: unknown, folder: string): AppError {
  const code = systemCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new AppError('missing', `The folder ${folder} does not exist. Check the path.`, { cause: error });
  }
  return new AppError('permission', `${folder} cannot be read: ${messageOf(error)}. Change its permissions.`, {
    cause: error,
  });
}

/** A choice as a path relative to the root. @throws AppError `bad-input` if it is outside. */
function insidePath(root: string, path: string): string {
  const inside = pathInside(root, resolve(root, path));
  if (inside !== undefined && inside !== '') return inside;
  throw new AppError(
    'bad-input',
    `${path} is not in ${root}, so it cannot be included or excluded. Enter a path inside the folder.`,
  );
}

function trackedFindings(files: readonly SelectedFile[], listing: GitListing | undefined): Finding[] {
  return files
    .filter(({ path }) => listing?.trackedButIgnored.has(path))
    .map(({ path }) => ({
      type: 'tracked-but-ignored',
      path,
      message: l10n.t('{0} matches an ignore rule, but git tracks it, so it is sent.', path),
    }));
}

function foreignFinding({ top }: Repository): Finding {
  return {
    type: 'foreign-repository',
    path: top,
    message: l10n.t(
      'The repository in {0} belongs to another user, so git was not run and no file in .git was read. Only the .gitignore files count.',
      top,
    ),
  };
}

function assertWithinLimits({ files, totalBytes }: Selection, options: SelectOptions): void {
  const maxFiles = options.maxFiles ?? MOST_FILES;
  const maxTotalBytes = options.maxTotalBytes ?? MOST_TOTAL_BYTES;
  const isTooMany = files.length > maxFiles;
  if (!isTooMany && totalBytes <= maxTotalBytes) return;
  const shares = new Map<string, number>();
  for (const { path, size } of files) {
    const top = path.slice(0, path.indexOf('/') + 1) || path;
    shares.set(top, (shares.get(top) ?? 0) + (isTooMany ? 1 : size));
  }
  const largest = [...shares].sort(([, a], [, b]) => b - a).slice(0, 3);
  const named = largest.map(
    ([top, share]) => `${top} (${isTooMany ? formatCount(share, 'file') : formatBytes(share)})`,
  );
  const found = isTooMany ? formatCount(files.length, 'file') : formatBytes(totalBytes);
  const limit = isTooMany ? formatCount(maxFiles, 'file') : formatBytes(maxTotalBytes);
  throw new AppError(
    'limit',
    `The folder has ${found} to send, and the limit is ${limit}. Leave files out in .farwharfignore. The largest: ${named.join(', ')}.`,
  );
}

/** The approximate size of a selection's archive in bytes: text compresses to a third, compressed files do not. */
export function estimateArchiveBytes({ files }: Pick<Selection, 'files'>): number {
  const bytes = files.reduce(
    (sum, { path, size }) => sum + HEADER_BYTES + size * (isPackedName(path) ? 1 : TEXT_RATIO),
    0,
  );
  return Math.round(bytes);
}
