import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DamagedArchive } from '../archive/inflateSegment.ts';
import { type FileTime, fileTimeOf } from '../files/fileTime.ts';
import type { SelectedFile } from '../files/selectedFile.ts';
import { locateParts } from './archiveParts.ts';
import type { ManifestEntry } from './manifest.ts';
import { type ArchiveSegment, SegmentKey } from './segments.ts';

const CHUNK_BYTES = 1 << 20;
// Each submission adds a file. Opening and linking more than these would cost more than copying the segments of small ones.
const MOST_PARTS = 16;

/** An archive that was packed from the same folder before, and its files. */
export interface EarlierPacking {
  /** The path of the file, or of the folder with its parts. */
  readonly archive: string;
  /** In order. */
  readonly segments: readonly ArchiveSegment[];
  readonly manifest: readonly ManifestEntry[];
}

/** A file that has segments. */
interface Part {
  /** In the folder of an archive that refers to it. */
  readonly name: string;
  readonly path: string;
  readonly file: FileHandle;
  readonly bytes: number;
}

export interface FoundSegment {
  readonly segment: ArchiveSegment;
  readonly manifest: readonly ManifestEntry[];
  readonly part: Part;
}

interface UnchangedSegment extends FoundSegment {
  /** Of its files. */
  readonly times: readonly FileTime[];
}

/** Finds segments of an earlier archive whose files have not changed, and reads their compressed bytes. */
export class EarlierArchive implements AsyncDisposable {
  readonly #parts: readonly Part[];
  readonly #found = new Map<string, FoundSegment>();

  private constructor({ segments, manifest }: EarlierPacking, parts: ReadonlyMap<string | null, Part>) {
    this.#parts = [...parts.values()];
    let first = 0;
    for (const segment of segments) {
      const segmentFiles = manifest.slice(first, first + segment.files);
      first += segment.files;
      const part = parts.get(segment.part);
      if (segment.key === null || part === undefined || segment.start + segment.packedBytes > part.bytes) continue;
      this.#found.set(segment.key, { segment, manifest: segmentFiles, part });
    }
  }

  /** Undefined if the archive cannot be opened, such as after it was removed. Segments of a file that is gone are not found. */
  static async open(packing: EarlierPacking): Promise<EarlierArchive | undefined> {
    const pathOf = await locateParts(packing.archive).catch(() => undefined);
    if (pathOf === undefined) return undefined;
    const parts = new Map<string | null, Part>();
    for (const part of new Set(packing.segments.map((segment) => segment.part))) {
      const path = pathOf(part);
      const file = await open(path, 'r').catch(() => undefined);
      if (file === undefined) continue;
      parts.set(part, { name: part ?? randomUUID(), path, file, bytes: (await file.stat()).size });
    }
    return new EarlierArchive(packing, parts);
  }

  /** The segment with these files as they are on the disk now; undefined if one is new or was changed. */
  find(root: string, files: readonly SelectedFile[]): UnchangedSegment | undefined {
    const key = new SegmentKey();
    const times: FileTime[] = [];
    for (const file of files) {
      const stats = lstatSync(file.source ?? join(root, file.path), { bigint: true, throwIfNoEntry: false });
      if (stats?.isFile() !== true) return undefined;
      key.add(file, stats);
      times.push(fileTimeOf(stats));
    }
    const found = this.#found.get(key.end() ?? '');
    return found && { ...found, times };
  }

  /** The compressed bytes of a segment. @throws DamagedArchive after the last of them if they are not what was written. */
  async *read({ segment: { packedBytes, packedCrc, start }, part }: FoundSegment): AsyncGenerator<Buffer, void> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, packedBytes));
    let crc = 0;
    for (let done = 0; done < packedBytes; ) {
      const { bytesRead } = await part.file.read(buffer, 0, Math.min(buffer.length, packedBytes - done), start + done);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      crc = crc32(chunk, crc);
      done += bytesRead;
      yield chunk;
    }
    if (crc !== packedCrc) throw new DamagedArchive();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { file } of this.#parts) await file.close();
  }
}

/**
 * The files that a new archive refers to: the few that contain most of these segments, and only files of which at least half is such
 * segments.
 */
export function partsToKeep(found: readonly FoundSegment[]): ReadonlySet<Part> {
  const usedBytes = new Map<Part, number>();
  for (const { part, segment } of found) usedBytes.set(part, (usedBytes.get(part) ?? 0) + segment.packedBytes);
  const worthy = [...usedBytes].filter(([part, bytes]) => 2 * bytes >= part.bytes);
  return new Set(
    worthy
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, MOST_PARTS - 1)
      .map(([part]) => part),
  );
}
