import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as l10n from '@vscode/l10n';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { Exclusion } from './exclusion.ts';
import { addChoice, assertExcluded, assertIncluded, type Included } from './honouredChoices.ts';
import { inspectFiles } from './fileInspection.ts';
import { isPackedName } from '../files/fileKinds.ts';
import { readChoices, takes } from './choices.ts';
import { ChosenFiles, describeLink } from './chosenFiles.ts';
import { listFolderFiles } from './folderListing.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { sortByPath } from './pathOrder.ts';
import { PathScope } from './pathScope.ts';
import type { Repository } from '../git/repository.ts';
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
  /**
   * Files, folders and links that the user included, which overrides exclusions, even of secrets, and patterns, which override ignore
   * files only: see `readChoice`. A link sends what it leads to.
   */
  readonly include?: readonly string[] | undefined;
  /** The same of what the user left out. */
  readonly exclude?: readonly string[] | undefined;
  /** Those of `include` and `exclude` that were chosen for an earlier submit. What cannot be included any more is a finding, and no error. */
  readonly remembered?: readonly string[] | undefined;
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
 * that is excluded completely is one entry. No file is changed, and no link followed that the user did not include.
 *
 * @throws AppError `missing` (the folder, or what a choice names), `bad-input` (not a folder, or a choice outside it), `refused` (a choice
 * that cannot be sent), `permission`, or `limit` if the selection is too large;
 * the signal's reason on abort.
 */
export async function selectFiles(root: string, options: SelectOptions): Promise<Selection> {
  const { isTrusted, signal, onProgress } = options;
  const folder = resolve(root);
  signal?.throwIfAborted();
  await assertFolder(folder);
  const include = await readChoices(folder, options.include);
  const exclude = await readChoices(folder, options.exclude);
  const only = options.only?.map((path) => insidePath(folder, path));
  const scope = only === undefined ? undefined : new PathScope(only);

  const listing = await listFolderFiles(folder, { isTrusted, only, signal });
  const maxFiles = options.maxFiles ?? MOST_FILES;
  const chosenFiles = new ChosenFiles(folder, await realpath(folder), { isTrusted, maxFiles, signal });
  const isRemembered = (text: string): boolean => options.remembered?.includes(text) === true;
  const included: Included[] = [];
  const forgotten: Finding[] = [];
  for (const choice of include) {
    try {
      included.push(await addChoice(chosenFiles, folder, { choice, exclude, signal }));
    } catch (error) {
      if (!(error instanceof AppError) || !isRemembered(choice.text)) throw error;
      forgotten.push({ type: 'choice', path: choice.text, message: error.message });
    }
  }
  const isTaken = (path: string): boolean => exclude.some((choice) => takes(choice, path));
  // What the user chose is sent or left out as `chosen` says.
  const decided = new PathScope(included.flatMap(({ paths }) => paths));
  const undecided = decided.isEmpty ? listing.files : listing.files.filter((path) => !decided.holds(path));
  const wanted = [...new Set([...undecided, ...chosenFiles.files.keys()])];
  const excludedPaths = exclude.length === 0 ? [] : wanted.filter(isTaken);
  const remaining = excludedPaths.length === 0 ? wanted : wanted.filter((path) => !isTaken(path));

  const yielder = new Yielder(signal);
  const inspected = await inspectFiles(folder, await sortByPath(remaining, (path) => path, yielder), {
    chosen: chosenFiles.files,
    maxFileBytes: options.maxFileBytes ?? MOST_FILE_BYTES,
    isKnown: options.isKnown,
    signal,
    onProgress,
  });
  assertIncluded(included, inspected, isTaken);
  const leftOut = [
    ...listing.excluded.filter(({ path }) => !decided.holds(path) && (scope?.touches(path) ?? true)),
    ...chosenFiles.excluded.filter(({ path }) => !isTaken(path)),
    ...inspected.excluded,
    ...excludedPaths.map((path): Exclusion => ({ path, type: 'file', reason: 'user' })),
  ];
  const excluded = await sortByPath(leftOut, ({ path }) => path, yielder);
  for (const choice of exclude) {
    if (!isRemembered(choice.text)) await assertExcluded(folder, choice, { wanted, excluded, signal });
  }
  const selection: Selection = {
    root: folder,
    files: inspected.files,
    excluded,
    totalBytes: inspected.totalBytes,
    findings: [
      ...forgotten,
      ...chosenFiles.links.filter(({ path }) => !isTaken(path)).map((link) => describeLink(link, inspected.files)),
      ...inspected.findings,
      ...trackedFindings(inspected.files, listing.trackedButIgnored),
      ...(listing.foreign === undefined ? [] : [foreignFinding(listing.foreign)]),
    ],
  };
  assertWithinLimits(selection, options);
  return selection;
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

function trackedFindings(files: readonly SelectedFile[], tracked: ReadonlySet<string>): Finding[] {
  return files
    .filter(({ path }) => tracked.has(path))
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
  const amount = isTooMany ? formatCount(files.length, 'file') : formatBytes(totalBytes);
  const limit = isTooMany ? formatCount(maxFiles, 'file') : formatBytes(maxTotalBytes);
  throw new AppError(
    'limit',
    `The folder has ${amount} to send, and the limit is ${limit}. Leave files out in .farwharfignore. The largest: ${named.join(', ')}.`,
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
