import { lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { GZIP_HEADER } from '../archive/gzipMember.ts';
import type { SelectedFile } from '../files/selectedFile.ts';
import type { ManifestEntry } from './manifest.ts';
import { type ArchiveSegment, SegmentKey } from './segments.ts';

const CHUNK_BYTES = 1 << 20;

/** An archive that was packed from the same folder before, and its files. */
export interface EarlierPacking {
  /** Absolute path. */
  readonly archive: string;
  /** In order. */
  readonly segments: readonly ArchiveSegment[];
  readonly manifest: readonly ManifestEntry[];
}

interface FoundSegment {
  readonly segment: ArchiveSegment;
  readonly manifest: readonly ManifestEntry[];
  /** Where its bytes begin in the archive. */
  readonly start: number;
}

/** The earlier archive is not the one that its segments describe. */
export class DamagedArchive extends Error {
  override readonly name = 'DamagedArchive';
}

/** Finds segments of an earlier archive whose files have not changed, and reads their compressed bytes. */
export class EarlierArchive implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #found = new Map<string, FoundSegment>();

  private constructor(file: FileHandle, { segments, manifest }: EarlierPacking) {
    this.#file = file;
    let start = GZIP_HEADER.length;
    let first = 0;
    for (const segment of segments) {
      const own = manifest.slice(first, first + segment.files);
      if (segment.key !== null) this.#found.set(segment.key, { segment, manifest: own, start });
      start += segment.packedBytes;
      first += segment.files;
    }
  }

  /** Undefined if the archive cannot be opened, such as after it was removed. */
  static async open(packing: EarlierPacking): Promise<EarlierArchive | undefined> {
    const file = await open(packing.archive, 'r').catch(() => undefined);
    return file && new EarlierArchive(file, packing);
  }

  /** The segment with these files as they are on the disk now; undefined if one is new or was changed. */
  find(root: string, files: readonly SelectedFile[]): FoundSegment | undefined {
    const key = new SegmentKey();
    for (const file of files) {
      const stats = lstatSync(file.source ?? join(root, file.path), { bigint: true, throwIfNoEntry: false });
      if (stats?.isFile() !== true) return undefined;
      key.add(file, stats);
    }
    return this.#found.get(key.end() ?? '');
  }

  /** The compressed bytes of a segment. @throws DamagedArchive after the last of them if they are not what was written. */
  async *read({ segment: { packedBytes, packedCrc }, start }: FoundSegment): AsyncGenerator<Buffer, void> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, packedBytes));
    let crc = 0;
    for (let done = 0; done < packedBytes; ) {
      const { bytesRead } = await this.#file.read(buffer, 0, Math.min(buffer.length, packedBytes - done), start + done);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      crc = crc32(chunk, crc);
      done += bytesRead;
      yield chunk;
    }
    if (crc !== packedCrc) throw new DamagedArchive('The earlier archive has other bytes than were written.');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}
