import { createHash, hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { GzipSegment } from '../archive/gzipWriter.ts';
import type { SelectedFile } from '../files/selectedFile.ts';
import { SECRET_FORMATS } from '../secrets/secretFormats.ts';

/**
 * An archive that is packed often consists of segments: files next to each other, compressed without the ones before, so that a segment
 * whose files have not changed can be copied from an earlier archive of the folder without reading them.
 */
export interface ArchiveSegment extends GzipSegment {
  readonly files: number;
  /** Identifies the files by what the disk says about them; null if one of them may have changed since without a trace. */
  readonly key: string | null;
  /** For each piece of its tar stream: SHA-256, and its length as 32 bits, little-endian. */
  readonly pieces: Buffer;
}

/** A piece in `ArchiveSegment.pieces`. */
export const PIECE_RECORD_BYTES = 36;

// After one path in 64, so that a new file moves no border but its own. Many small files are compressed together.
const BORDER = 0x3f;
const MOST_FILES = 512;
const MOST_BYTES = 4 * 2 ** 20;
const LARGE_BYTES = 2 ** 20;
// File systems note changes with a resolution of up to two seconds. A file that was changed that recently may change again unnoticed.
const RACY_MS = 2_000;

/** Groups files into segments, which depend on few files before them. */
export function groupFiles(files: readonly SelectedFile[]): readonly (readonly SelectedFile[])[] {
  const groups: SelectedFile[][] = [];
  let group: SelectedFile[] = [];
  let bytes = 0;
  for (const file of files) {
    group.push(file);
    bytes += file.size;
    const isBorder = ((hash('sha256', file.path, 'buffer')[0] ?? 0) & BORDER) === 0;
    if (!isBorder && file.size < LARGE_BYTES && bytes < MOST_BYTES && group.length < MOST_FILES) continue;
    groups.push(group);
    group = [];
    bytes = 0;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

/** Computes the key of a segment from what the disk says about its files, in order. */
export class SegmentKey {
  // Other formats of secrets find secrets in files that were searched before.
  readonly #hash = createHash('sha256').update(SECRET_FORMATS);
  #isSettled = true;

  /** @param readAt milliseconds since 1970, at the latest when the file began to be read; absent if it is not read. */
  add({ path, mode, mayHoldSecrets }: SelectedFile, stats: BigIntStats, readAt?: number): void {
    const { size, mtimeNs, ctimeNs, dev, ino } = stats;
    this.#hash.update(`${path}\0${[mode, mayHoldSecrets === true, size, mtimeNs, ctimeNs, dev, ino].join(' ')}\0`);
    const changedAt = Number(mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1e6;
    if (readAt !== undefined && changedAt > readAt - RACY_MS) this.#isSettled = false;
  }

  /** Null if a file was changed shortly before it was read, as git treats such files (racy-git). */
  end(): string | null {
    const key = this.#hash.digest('base64');
    return this.#isSettled ? key : null;
  }
}
