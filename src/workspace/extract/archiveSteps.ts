import { stat } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { formatDuration } from '../../core/text/format.ts';
import { type AssembledTar, readAssembledTar } from '../archive/assembledTar.ts';
import { gunzip } from '../archive/gzipReader.ts';
import { TarReader } from '../archive/tarReader.ts';
import { type ArchivePlan, overLimit, type WriteStep } from './archivePlan.ts';

export interface ReadOptions {
  /** Total time for reading and writing. */
  readonly seconds: number;
  /** As in `PlanLimits`. */
  readonly raise?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with bytes of the archive, not of its contents. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The path of a `.tar.gz`, or its bytes, or a tar stream that we put together. */
export type ArchiveSource = string | Buffer | AssembledTar;

export type WriteSteps = (steps: readonly WriteStep[], yielder: Yielder) => Promise<void>;

// This much of an archive is checked before anything is written. Most archives are smaller.
const JUDGED_AHEAD_BYTES = 2 * 2 ** 20;
// Bytes between two checks of the clock: at most 128 entries.
const SLICE_BYTES = 64 * 1024;

/**
 * Reads an archive through a plan, and passes on the steps to write its files, in order and with bounded memory. The last call of `write`
 * comes after the whole archive was found to be valid.
 *
 * @throws AppError `missing`, `corrupt`, `refused`, `limit` or `conflict` with the reason, the signal's reason, or the errors of `write`.
 */
export async function readExtractSteps(
  archive: ArchiveSource,
  plan: ArchivePlan,
  { signal, onProgress, ...limits }: ReadOptions,
  write: WriteSteps,
): Promise<void> {
  const archiveBytes = await sizeOf(archive);
  const onBytes = (packed: number): void => onProgress?.(packed, archiveBytes);
  const tar = isAssembled(archive) ? counted(readAssembledTar(archive), onBytes) : gunzip(archive, { signal, onBytes });
  await readTarSteps(tar, plan, { ...limits, signal }, write);
  onProgress?.(archiveBytes, archiveBytes);
}

function isAssembled(archive: ArchiveSource): archive is AssembledTar {
  return typeof archive === 'object' && 'sources' in archive;
}

async function sizeOf(archive: ArchiveSource): Promise<number> {
  if (archive instanceof Uint8Array) return archive.length;
  const path = isAssembled(archive) ? archive.path : archive;
  const { size } = await stat(path).catch((error: unknown) => {
    throw new AppError('missing', `The archive ${path} does not exist. Download it again.`, { cause: error });
  });
  return size;
}

async function* counted(tar: AsyncIterable<Buffer>, onBytes: (bytes: number) => void): AsyncGenerator<Buffer, void> {
  let bytes = 0;
  for await (const chunk of tar) {
    bytes += chunk.length;
    onBytes(bytes);
    yield chunk;
  }
}

/** The same for a tar stream. */
export async function readTarSteps(
  tar: AsyncIterable<Buffer> | Iterable<Buffer>,
  plan: ArchivePlan,
  { seconds, raise, signal }: Omit<ReadOptions, 'onProgress'>,
  write: WriteSteps,
): Promise<void> {
  const reader = new TarReader(plan);
  const yielder = new Yielder(signal);
  const startedAt = performance.now();
  for await (const chunk of tar) {
    // A chunk can be empty, but still took time to arrive.
    if (yielder.isDue) await yielder.pause();
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      reader.write(chunk.subarray(start, start + SLICE_BYTES));
      if (performance.now() - startedAt > seconds * 1000) {
        throw overLimit(`it takes more than ${formatDuration(seconds)} to unpack`, raise);
      }
      if (yielder.isDue) await yielder.pause();
    }
    if (plan.waitingBytes > JUDGED_AHEAD_BYTES) await write(plan.take(), yielder);
  }
  reader.end();
  await write(plan.take(), yielder);
}
