import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { access, constants, lstat, opendir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, systemCode } from '../../core/errors.ts';
import { packSelection, type Rewriting } from '../../workspace/pack/pack.ts';
import { PieceRecords } from '../../workspace/pack/pieceRecords.ts';
import { PinnedFolders } from '../../workspace/files/pinnedFolders.ts';
import type { SelectedFile } from '../../workspace/select/selection.ts';
import { changedByJob, openJobFile } from '../jobFiles/jobFileReading.ts';
import { readSubmittedManifest, type SubmittedManifest } from '../jobFiles/markers.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';

// Each file is a row in the store, and each folder and link costs a system call. A job creates a million of either in seconds.
const MAX_ENTRIES = 1_000_000;
// The length that systems accept after the path of a job's folder.
const MAX_PATH_LENGTH = 2_000;
const ENTRIES_AT_ONCE = 256;
const MAY_READ = 0o400;
// What the system says if this process lacks descriptors or memory.
const LACKS = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);
// In the job's folder, as in `jobFolder`.
const WORKSPACE = 'workspace';

export interface CollectedResults {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Never returned: links, special files, unreadable files, and names that are not valid UTF-8. */
  readonly leftOut: readonly string[];
  /** Not returned, because all results together are above the limit: the largest files, as few as possible. */
  readonly tooLarge: readonly { readonly path: string; readonly size: number }[];
  /** Not returned, because they changed, vanished or could not be read after the job had ended. */
  readonly unreadable: readonly UnreadableResult[];
  /** Returned without the values of secrets that they contain. */
  readonly redacted: readonly string[];
  /** Of the pieces of the archive; undefined if they are not known yet. */
  readonly records: Buffer | undefined;
}

interface UnreadableResult {
  /** Of a file, or of a folder with all that is in it. */
  readonly path: string;
  /** `changed`, `removed`, or the system's code. */
  readonly why: string;
}

export interface ResultLimits {
  /**
   * Of all result files together. A file with holes can be larger than any disk, and packing it would never end. The largest files beyond
   * it are left out.
   */
  readonly maxBytes: number;
  /** Of files, folders and links in the workspace, whether the job made them or not. */
  readonly maxEntries?: number;
  /** Whether a path contains a secret of the job, so that it is left out. */
  readonly isSecret?: (path: string) => boolean;
  /** Removes the values of secrets from files. */
  readonly redaction?: Rewriting | undefined;
}

/**
 * Packs what a job created or changed in its workspace into the folder's results archive.
 *
 * @throws AppError `limit` above `maxEntries`, or of `packSelection`; no archive exists then. The signal's reason on abort.
 */
export async function collectResults(
  folder: JobFolder,
  { maxBytes, maxEntries = MAX_ENTRIES, isSecret = () => false, redaction }: ResultLimits,
  signal: AbortSignal,
): Promise<CollectedResults> {
  // Processes that a job left running, or nodes of a cluster, can replace folders with links while they are read.
  const pinned = new PinnedFolders(folder.path, true);
  try {
    const { files: found, leftOut, unreadable } = await findResults(folder, pinned, { maxEntries, isSecret, signal });
    const { files, tooLarge, totalBytes } = withinLimit(found, maxBytes);
    const selection = { root: pinned.folder(WORKSPACE), files, excluded: [], totalBytes, findings: [] };
    const records = new PieceRecords();
    let isWhole = true;
    const { manifest } = await packSelection(selection, folder.results, {
      signal,
      allowsSecrets: true,
      onTar: records.write,
      rewriting: redaction,
      onUnreadable: ({ file, error }) => {
        unreadable.push({ path: file.path, why: whyUnreadable(error) });
        isWhole = false;
      },
    });
    // Without its workspace, a job has lost all of them.
    if (unreadable.length > 0) await lstat(pinned.at(WORKSPACE));
    return {
      files: manifest.map(({ path, size }) => ({ path, size })),
      leftOut,
      tooLarge,
      unreadable,
      redacted: manifest.flatMap(({ path, isRewritten }) => (isRewritten === true ? [path] : [])),
      records: isWhole ? records.end() : undefined,
    };
  } catch (error) {
    throw error instanceof AppError && error.code === 'refused' ? changedByJob(folder.workspace, error) : error;
  } finally {
    pinned.dispose();
  }
}

/** Leaves out the largest files until the others are within the limit, so that one of them never costs all others. */
function withinLimit(
  found: readonly SelectedFile[],
  maxBytes: number,
): {
  readonly files: readonly SelectedFile[];
  readonly tooLarge: CollectedResults['tooLarge'];
  readonly totalBytes: number;
} {
  let totalBytes = found.reduce((sum, { size }) => sum + size, 0);
  if (totalBytes <= maxBytes) return { files: found, tooLarge: [], totalBytes };
  const tooLarge = new Set<SelectedFile>();
  for (const file of found.toSorted((a, b) => b.size - a.size)) {
    if (totalBytes <= maxBytes) break;
    tooLarge.add(file);
    totalBytes -= file.size;
  }
  return {
    files: found.filter((file) => !tooLarge.has(file)),
    tooLarge: [...tooLarge].map(({ path, size }) => ({ path, size })),
    totalBytes,
  };
}

interface Found {
  readonly files: SelectedFile[];
  readonly leftOut: string[];
  readonly unreadable: UnreadableResult[];
}

async function findResults(
  folder: JobFolder,
  pinned: PinnedFolders,
  {
    maxEntries,
    isSecret,
    signal,
  }: Pick<Required<ResultLimits>, 'maxEntries' | 'isSecret'> & { readonly signal: AbortSignal },
): Promise<Found> {
  const submitted = new Map(
    ((await readSubmittedManifest(pinned.at(basename(folder.manifest)))) ?? []).map((entry) => [entry.path, entry]),
  );
  // The manifest is written when the workspace is complete. No program can set a file's change time back, so older files
  // have not been changed and need not be read.
  const { ctimeMs: completedAt } = await stat(pinned.at(basename(folder.manifest)));
  const found: Found = { files: [], leftOut: [], unreadable: [] };
  let entries = 0;
  const countEntry = (): void => {
    signal.throwIfAborted();
    entries += 1;
    if (entries > maxEntries) {
      const most = maxEntries.toLocaleString('en-US');
      throw new AppError('limit', `The job's folder has more than ${most} files, folders and links.`);
    }
  };
  const visit: Visitor['visit'] = async (path, stats) => {
    const isReadable = stats?.isFile() === true && (await mayRead(pinned.at(`${WORKSPACE}/${path}`), stats));
    if (!isReadable || isSecret(path)) {
      found.leftOut.push(path);
      return;
    }
    const before = submitted.get(path);
    if (before !== undefined) {
      if (stats.ctimeMs < completedAt) return;
      if (await isSame(pinned.at(`${WORKSPACE}/${path}`), stats.size, before)) return;
    }
    const mode = (stats.mode & 0o111) === 0 ? 0o644 : 0o755;
    found.files.push({ path, size: stats.size, mode, mtimeMs: stats.mtimeMs });
  };
  const onUnreadable = (path: string, error: unknown): void => {
    found.unreadable.push({ path, why: whyUnreadable(error) });
  };
  await walk(pinned, '', { countEntry, visit, onUnreadable });
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return found;
}

type Stats = Awaited<ReturnType<typeof lstat>> & {
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
};

interface Visitor {
  readonly countEntry: () => void;
  readonly visit: (path: string, stats: Stats | undefined) => Promise<void>;
  /** Called in place of an error that is about one file or folder alone. */
  readonly onUnreadable: (path: string, error: unknown) => void;
}

async function walk(pinned: PinnedFolders, prefix: string, visitor: Visitor): Promise<void> {
  const { countEntry, visit, onUnreadable } = visitor;
  const folder = prefix === '' ? WORKSPACE : `${WORKSPACE}/${prefix}`;
  const entries = await entriesOf(pinned, folder, countEntry);
  if (entries === undefined) {
    if (prefix === '') throw changedByJob(WORKSPACE);
    return visit(prefix, undefined);
  }
  for (const entry of entries) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    try {
      if (path.length > MAX_PATH_LENGTH) await visit(path, undefined);
      else if (entry.isDirectory()) await walk(pinned, path, visitor);
      else await visit(path, await statsOf(pinned.at(`${folder}/${entry.name}`), entry.name));
    } catch (error) {
      if (!isOfOneFile(error)) throw error;
      onUnreadable(path, error);
    }
  }
}

/** Whether an error is about the file that was read, and not about this process or a limit. */
function isOfOneFile(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'refused' || error.code === 'corrupt';
  const code = systemCode(error);
  return code !== undefined && !LACKS.has(code);
}

/** Says in a word why a result cannot be read. @throws the error if it is not about this one. */
function whyUnreadable(error: unknown): string {
  const code = systemCode(error instanceof AppError ? error.cause : error);
  if (code === undefined || ['ELOOP', 'ENOTDIR', 'ENXIO'].includes(code)) return 'changed';
  if (LACKS.has(code)) throw error;
  return code === 'ENOENT' ? 'removed' : code;
}

/** Undefined for a name that is not valid UTF-8, which is not found by its decoded form. */
async function statsOf(path: string, name: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (name.includes('\ufffd') && systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined for an unreadable folder, or one whose decoded name differs from its bytes. */
async function entriesOf(
  pinned: PinnedFolders,
  path: string,
  countEntry: () => void,
): Promise<readonly Dirent[] | undefined> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(pinned.folder(path), { bufferSize: ENTRIES_AT_ONCE })) {
      countEntry();
      entries.push(entry);
    }
    return entries;
  } catch (error) {
    if (['EACCES', 'ENOENT'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** Whether the owner of a file lets it be read and, for one of another user, whether the system does. */
async function mayRead(path: string, { mode, uid }: Stats): Promise<boolean> {
  if ((mode & MAY_READ) === 0) return false;
  if (uid === process.geteuid?.()) return true;
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

async function isSame(path: string, size: number, before: SubmittedManifest[number]): Promise<boolean> {
  if (size !== before.size) return false;
  const digest = createHash('sha256');
  try {
    await using file = await openJobFile(path);
    if (file === undefined) return false;
    await pipeline(file.createReadStream({ autoClose: false }), digest);
  } catch (error) {
    if (systemCode(error) === 'EACCES') return false;
    throw error;
  }
  return digest.digest('hex') === before.sha256;
}
