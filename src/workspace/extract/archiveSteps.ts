import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { formatDuration } from '../../core/text/format.ts';
import { gunzip, type GunzipOptions } from '../archive/gzipReader.ts';
import { TarReader } from '../archive/tarReader.ts';
import { type ArchivePlan, overLimit, type WriteStep } from './archivePlan.ts';

export interface ReadOptions {
  /** The highest ratio of unpacked to packed bytes; applies above 32 MB unpacked. */
  readonly ratio: number;
  /** Total time for reading and writing. */
  readonly seconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with bytes of the archive, not of its contents. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

export type WriteSteps = (steps: readonly WriteStep[], yielder: Yielder) => Promise<void>;

const RATIO_COUNTS_FROM_BYTES = 32e6;
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
  { ratio, seconds, signal, onProgress }: ReadOptions,
  write: WriteSteps,
): Promise<void> {
  const archiveBytes = await sizeOf(archive);
  const onBytes = (packed: number, unpacked: number): void => {
    assertRatio(Math.max(unpacked, plan.totalBytes), unpacked, packed, archiveBytes, ratio);
    onProgress?.(packed, archiveBytes);
  };
  // A `.tar` is one that we wrote ourselves; what others send is a `.tar.gz`.
  const isPlain = typeof archive === 'string' && archive.endsWith('.tar');
  const tar = isPlain ? readPlain(archive, { signal, onBytes }) : gunzip(archive, { signal, onBytes });
  await readTarSteps(tar, plan, { seconds, signal }, write);
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

/** The same for a tar stream, whose size and ratio are not limited. */
export async function readTarSteps(
  tar: AsyncIterable<Buffer> | Iterable<Buffer>,
  plan: ArchivePlan,
  { seconds, signal }: Pick<ReadOptions, 'seconds' | 'signal'>,
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
        throw overLimit(`it takes more than ${formatDuration(seconds)} to unpack`);
      }
      if (yielder.isDue) await yielder.pause();
    }
    if (plan.waitingBytes > JUDGED_AHEAD_BYTES) await write(plan.take(), yielder);
  }
  reader.end();
  await write(plan.take(), yielder);
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
