import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { formatDuration } from '../../core/text/format.ts';
import { gunzip, type GunzipOptions } from '../archive/gzipReader.ts';
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

export type WriteSteps = (steps: readonly WriteStep[], yielder: Yielder) => Promise<void>;

// This much of an archive is checked before anything is written. Most archives are smaller.
const JUDGED_AHEAD_BYTES = 2 * 2 ** 20;
// Bytes between two checks of the clock: at most 128 entries.
const SLICE_BYTES = 64 * 1024;
const PLAIN_BYTES = 256 * 1024;

/**
 * Reads an archive through a plan, and passes on the steps to write its files, in order and with bounded memory. The last call of `write`
 * comes after the whole archive was found to be valid.
 *
 * @param archive its path, or the bytes of a `.tar.gz`.
 * @throws AppError `missing`, `corrupt`, `refused` or `limit` with the reason, the signal's reason, or the errors of `write`.
 */
export async function readSteps(
  archive: string | Buffer,
  plan: ArchivePlan,
  { signal, onProgress, ...limits }: ReadOptions,
  write: WriteSteps,
): Promise<void> {
  const archiveBytes = await sizeOf(archive);
  const onBytes = (packed: number): void => onProgress?.(packed, archiveBytes);
  // A `.tar` is one that we wrote ourselves; what others send is a `.tar.gz`.
  const isPlain = typeof archive === 'string' && archive.endsWith('.tar');
  const tar = isPlain ? readPlain(archive, { signal, onBytes }) : gunzip(archive, { signal, onBytes });
  await readTarSteps(tar, plan, { ...limits, signal }, write);
  onProgress?.(archiveBytes, archiveBytes);
}

async function sizeOf(archive: string | Buffer): Promise<number> {
  if (typeof archive !== 'string') return archive.length;
  const { size } = await stat(archive).catch((error: unknown) => {
    throw new AppError('missing', `The archive ${archive} does not exist. Download it again.`, { cause: error });
  });
  return size;
}

async function* readPlain(path: string, { signal, onBytes }: GunzipOptions): AsyncGenerator<Buffer, void> {
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: PLAIN_BYTES, signal }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    onBytes(bytes, bytes);
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
