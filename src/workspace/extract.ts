import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, realpath, rm, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../core/errors.ts';
import { STAGING_PREFIX } from './exclusion.ts';
import { writeFailure } from './fileWriting.ts';
import { gunzip } from './gzipReader.ts';
import { type SkippedEntry, type StagedEntry, StagingWriter, type WriterLimits } from './stagingWriter.ts';
import { TarReader } from './tarReader.ts';

export type { SkippedEntry, StagedEntry } from './stagingWriter.ts';

export interface StagedArchive {
  /** Absolute path of the folder that holds the files, inside the target folder. */
  readonly staging: string;
  readonly entries: readonly StagedEntry[];
  /** Links and special files, which are never created. */
  readonly skipped: readonly SkippedEntry[];
  readonly totalBytes: number;
}

interface ArchiveLimits extends WriterLimits {
  /** Unpacked bytes for each packed byte, once more than 32 MB are unpacked. */
  readonly ratio: number;
}

export interface StageOptions {
  readonly limits?: Partial<ArchiveLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Counts bytes of the archive itself. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

const DEFAULT_LIMITS: ArchiveLimits = { totalBytes: 20 * 2 ** 30, entries: 1_000_000, depth: 256, ratio: 200 };
const RATIO_COUNTS_FROM_BYTES = 32e6;

/**
 * Unpacks an archive into a new staging folder inside `folder`, which is made if it is missing. Nothing else in `folder`
 * is touched. Only regular files and the folders that they need are made; links and special files are listed.
 *
 * @throws AppError `corrupt`, `refused`, `limit` or `no-space` with the reason, or the signal's reason; `folder` is then as
 * it was.
 */
export async function stageArchive(
  archive: string,
  folder: string,
  { limits, signal, onProgress }: StageOptions = {},
): Promise<StagedArchive> {
  signal?.throwIfAborted();
  const made = await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw writeFailure(error, folder);
  });
  try {
    return await stageInto(await realpath(folder), archive, { ...DEFAULT_LIMITS, ...limits }, { signal, onProgress });
  } catch (error) {
    if (made !== undefined) await removeMade(resolve(folder), made);
    throw writeFailure(error, folder);
  }
}

/** Removes the staging folder and what is left in it. */
export async function discardStaged({ staging }: Pick<StagedArchive, 'staging'>): Promise<void> {
  await rm(dirname(staging), { recursive: true, force: true });
}

async function stageInto(
  folder: string,
  archive: string,
  limits: ArchiveLimits,
  { signal, onProgress }: StageOptions,
): Promise<StagedArchive> {
  const { size: archiveBytes } = await stat(archive).catch((error: unknown) => {
    throw new AppError('missing', `There is no archive ${archive}. Download it again.`, { cause: error });
  });
  await access(folder, constants.W_OK);
  const { bavail, bsize } = await statfs(folder);
  const staging = join(await mkdtemp(join(folder, STAGING_PREFIX)), 'files');
  const writer = new StagingWriter(staging, limits, bavail * bsize);
  try {
    await mkdir(staging);
    const reader = new TarReader(writer);
    const onBytes = (packed: number, unpacked: number): void => {
      assertRatio(Math.max(unpacked, writer.totalBytes), unpacked, packed, archiveBytes, limits.ratio);
      onProgress?.(packed, archiveBytes);
    };
    for await (const chunk of gunzip(archive, { signal, onBytes })) reader.write(chunk);
    reader.end();
    onProgress?.(archiveBytes, archiveBytes);
    return { staging, entries: writer.entries, skipped: writer.skipped, totalBytes: writer.totalBytes };
  } catch (error) {
    writer.dispose();
    await discardStaged({ staging });
    throw error;
  }
}

/**
 * Refuses what unpacks to suspiciously much: at once when the sizes declared so far are out of proportion to the whole
 * archive, else as soon as the bytes that came out are, to those that went in.
 */
function assertRatio(declared: number, unpacked: number, packed: number, archiveBytes: number, ratio: number): void {
  const isTooMuch =
    declared > RATIO_COUNTS_FROM_BYTES + ratio * archiveBytes || unpacked > RATIO_COUNTS_FROM_BYTES + ratio * packed;
  if (!isTooMuch) return;
  throw new AppError(
    'limit',
    `The archive was refused: it unpacks to more than ${ratio} times its size, as archives do that are made to fill disks. If it comes from a job that you trust, raise the limit.`,
  );
}

async function removeMade(folder: string, outermost: string): Promise<void> {
  for (let current = folder; current.length >= outermost.length; current = dirname(current)) {
    await rmdir(current).catch(() => {}); // somebody put something into it meanwhile: then it stays
  }
}
