import { open, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { AppError, systemCode } from '../../core/errors.ts';
import { combineCrc, GZIP_HEADER, gzipEnd } from '../../workspace/archive/gzipMember.ts';
import { gunzip } from '../../workspace/archive/gzipReader.ts';
import { DamagedArchive, inflateSegment, readPackedSegment } from '../../workspace/archive/inflateSegment.ts';
import { locateParts } from '../../workspace/pack/archiveParts.ts';
import { readSegments } from './archiveSegments.ts';
import type { PackedFiles } from './archives.ts';

type StoredArchive = Pick<PackedFiles, 'archive' | 'segments'>;

/** Whether an archive is one file. @throws AppError `missing` if it is no longer stored. */
export async function isWhole(archive: string): Promise<boolean> {
  return (
    await stat(archive).catch((error: unknown) => {
      if (systemCode(error) !== 'ENOENT') throw error;
      throw new AppError('missing', `The archive ${archive} is no longer stored.`, { cause: error });
    })
  ).isFile();
}

/**
 * The tar stream of an archive.
 *
 * @throws AppError `missing` if it is no longer stored, `corrupt` or DamagedArchive if it is damaged, the signal's reason.
 */
export async function* readTar(
  { archive, segments }: StoredArchive,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void> {
  if (await isWhole(archive)) {
    yield* gunzip(archive, { signal, onBytes: () => {} });
    return;
  }
  const pathOf = await locateParts(archive);
  for (const { part, start, packedBytes, crc: expected } of await segmentsOf(segments)) {
    let crc = 0;
    for await (const bytes of inflateSegment(pathOf(part), { start, bytes: packedBytes }, signal)) {
      crc = crc32(bytes, crc);
      yield bytes;
    }
    if (crc !== expected) throw new DamagedArchive();
  }
}

/** Writes an archive that refers to others as one file. @throws as `readTar`. */
export async function writeWhole(
  { archive, segments }: StoredArchive,
  dest: string,
  signal?: AbortSignal,
): Promise<void> {
  const pathOf = await locateParts(archive);
  await using output = await open(dest, 'wx', 0o600);
  await output.writeFile(GZIP_HEADER);
  let crc = 0;
  let bytes = 0;
  for (const segment of await segmentsOf(segments)) {
    signal?.throwIfAborted();
    const { part, start, packedBytes, packedCrc } = segment;
    let written = 0;
    for await (const chunk of readPackedSegment(pathOf(part), { start, bytes: packedBytes })) {
      written = crc32(chunk, written);
      await output.writeFile(chunk);
    }
    if (written !== packedCrc) throw new DamagedArchive();
    crc = combineCrc(crc, segment.crc, segment.bytes);
    bytes += segment.bytes;
  }
  await output.writeFile(gzipEnd(crc, bytes));
}

async function segmentsOf(path: string) {
  const segments = await readSegments(path);
  if (segments === undefined) throw new DamagedArchive();
  return segments;
}
