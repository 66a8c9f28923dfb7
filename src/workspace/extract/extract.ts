import { constants } from 'node:fs';
import { access, mkdir, realpath, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { formatDuration } from '../../core/text/format.ts';
import { ArchivePlan, overLimit, type PlanLimits, type SkippedEntry } from './archivePlan.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { gunzip } from '../archive/gzipReader.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { discardStaged, makeStagingFolder, newStagingName } from './stagingFolder.ts';
import { type StagedEntry, StagingWriter } from './stagingWriter.ts';
import { TarReader } from '../archive/tarReader.ts';

export type { SkippedEntry } from './archivePlan.ts';
export { discardStaged } from './stagingFolder.ts';
export type { StagedEntry } from './stagingWriter.ts';

export interface StagedArchive {
  /** Absolute path of the folder with the files, inside the target folder. */
  readonly staging: string;
  readonly entries: readonly StagedEntry[];
  /** Links and special files, which are never created. */
  readonly skipped: readonly SkippedEntry[];
  readonly totalBytes: number;
}

interface ArchiveLimits extends PlanLimits {
  /** The highest ratio of unpacked to packed bytes; applies above 32 MB unpacked. */
  readonly ratio: number;
  /** Total time for reading and writing. */
  readonly seconds: number;
}

export interface StageOptions {
  readonly limits?: Partial<ArchiveLimits> | undefined;
  /** Name of the staging folder; a new one if absent. */
  readonly name?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with bytes of the archive, not of its contents. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The default limit for the total size of the unpacked files. */
export const MOST_UNPACKED_BYTES: number = 20 * 2 ** 30;

const DEFAULT_LIMITS: ArchiveLimits = {
  totalBytes: MOST_UNPACKED_BYTES,
  entries: 1_000_000,
  folders: 500_000,
  depth: 256,
  components: 16_000_000,
  nameBytes: 128 * 2 ** 20,
  ratio: 200,
  seconds: 3600,
};
const RATIO_COUNTS_FROM_BYTES = 32e6;
// This much of an archive is checked before anything is written. Most archives are smaller.
const JUDGED_AHEAD_BYTES = 2 * 2 ** 20;
// Bytes between two checks of the clock: at most 128 entries.
const SLICE_BYTES = 64 * 1024;

/**
 * Unpacks an archive into a new staging folder inside `folder`, which is created if it is missing. Nothing else in `folder` changes.
 * Only regular files and their folders are created; links and special files are listed.
 *
 * @throws AppError `corrupt`, `refused`, `limit` or `no-space` with the reason, or the signal's reason. `folder` is then unchanged.
 */
export async function stageArchive(
  archive: string,
  folder: string,
  { limits, ...options }: StageOptions = {},
): Promise<StagedArchive> {
  options.signal?.throwIfAborted();
  const made = await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw writeFailure(error, folder);
  });
  try {
    return await stageInto(await realpath(folder), archive, { ...DEFAULT_LIMITS, ...limits }, options);
  } catch (error) {
    if (made !== undefined) await removeMade(resolve(folder), made);
    throw writeFailure(error, folder);
  }
}

async function stageInto(
  folder: string,
  archive: string,
  limits: ArchiveLimits,
  { name = newStagingName(), signal, onProgress }: Omit<StageOptions, 'limits'>,
): Promise<StagedArchive> {
  const { size: archiveBytes } = await stat(archive).catch((error: unknown) => {
    throw new AppError('missing', `The archive ${archive} does not exist. Download it again.`, { cause: error });
  });
  await access(folder, constants.W_OK);
  const { bavail, bsize } = await statfs(folder);
  const plan = new ArchivePlan(limits, bavail * bsize);
  const reader = new TarReader(plan);
  const yielder = new Yielder(signal);
  const startedAt = performance.now();
  let target: { readonly staging: string; readonly writer: StagingWriter } | undefined;
  const write = async (): Promise<string> => {
    target ??= open(folder, name);
    await target.writer.write(plan.take(), yielder);
    return target.staging;
  };
  const onBytes = (packed: number, unpacked: number): void => {
    assertRatio(Math.max(unpacked, plan.totalBytes), unpacked, packed, archiveBytes, limits.ratio);
    onProgress?.(packed, archiveBytes);
  };
  try {
    for await (const chunk of gunzip(archive, { signal, onBytes })) {
      for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
        reader.write(chunk.subarray(start, start + SLICE_BYTES));
        if (performance.now() - startedAt > limits.seconds * 1000) {
          throw overLimit(`it takes more than ${formatDuration(limits.seconds)} to unpack`);
        }
        if (yielder.isDue) await yielder.pause();
      }
      if (plan.waitingBytes > JUDGED_AHEAD_BYTES) await write();
    }
    reader.end();
    const staging = await write();
    onProgress?.(archiveBytes, archiveBytes);
    return { staging, entries: target?.writer.entries ?? [], skipped: plan.skipped, totalBytes: plan.totalBytes };
  } catch (error) {
    if (target !== undefined) await discardStaged(target);
    throw error;
  } finally {
    target?.writer.dispose();
  }
}

function open(folder: string, name: string): { readonly staging: string; readonly writer: StagingWriter } {
  const { staging, folders } = makeStagingFolder(folder, name);
  return { staging, writer: new StagingWriter(folders) };
}

/**
 * Refuses an archive that unpacks to a suspicious size: as soon as the declared sizes exceed the limit for the whole archive, or the
 * unpacked bytes exceed it for those read so far.
 */
function assertRatio(declared: number, unpacked: number, packed: number, archiveBytes: number, ratio: number): void {
  const isTooMuch =
    declared > RATIO_COUNTS_FROM_BYTES + ratio * archiveBytes || unpacked > RATIO_COUNTS_FROM_BYTES + ratio * packed;
  if (!isTooMuch) return;
  throw overLimit(`it unpacks to more than ${ratio} times its size, which is typical of archives made to fill disks`);
}

async function removeMade(folder: string, outermost: string): Promise<void> {
  for (let current = folder; current.length >= outermost.length; current = dirname(current)) {
    await rmdir(current).catch(() => {}); // stays if it is no longer empty
  }
}
