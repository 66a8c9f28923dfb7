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
  /** Of its tar stream, as `PieceRecords` returns them. */
  readonly pieces: Buffer;
  /** The file with its compressed bytes, by its name in the folder of the archive; null for the archive's own. */
  readonly part: string | null;
  /** Where they begin in that file. */
  readonly start: number;
}

// A segment ends after one path in 64, chosen by the path, so that a new file moves only the boundary next to it. Many small files are
// compressed together.
const BORDER = 0x3f;
const MOST_FILES = 512;
const MOST_BYTES = 4 * 2 ** 20;
const LARGE_BYTES = 2 ** 20;
// A file that was changed just before it is read may change again within the resolution of its time. Most file systems note times by the
// ticks of the system, every 10 ms at most; those without microseconds may be as coarse as FAT, with two seconds.
const RACY_MS = { fine: 100, coarse: 2_000 };
const NS_PER_MS = 1_000_000n;

/** Groups files into segments, which depend on few files before them. A large file has one of its own. */
export function groupFiles(files: readonly SelectedFile[]): readonly (readonly SelectedFile[])[] {
  const groups: SelectedFile[][] = [];
  let group: SelectedFile[] = [];
  let bytes = 0;
  const end = (): void => {
    if (group.length > 0) groups.push(group);
    group = [];
    bytes = 0;
  };
  for (const file of files) {
    const isLarge = file.size >= LARGE_BYTES;
    if (isLarge) end();
    group.push(file);
    bytes += file.size;
    const isBorder = ((hash('sha256', file.path, 'buffer')[0] ?? 0) & BORDER) === 0;
    if (isBorder || isLarge || bytes >= MOST_BYTES || group.length >= MOST_FILES) end();
  }
  end();
  return groups;
}

/** Computes the key of a segment from what the disk says about its files, in order. */
export class SegmentKey {
  // New formats of secrets may be found in files that were scanned before.
  readonly #hash = createHash('sha256').update(SECRET_FORMATS);
  #isSettled = true;

  /** @param readAt milliseconds since 1970, at the latest when the file began to be read; absent if it is not read. */
  add({ path, mode, mayHoldSecrets }: SelectedFile, stats: BigIntStats, readAt?: number): void {
    const { size, mtimeNs, ctimeNs, dev, ino } = stats;
    this.#hash.update(`${path}\0${[mode, mayHoldSecrets === true, size, mtimeNs, ctimeNs, dev, ino].join(' ')}\0`);
    const changedAt = Number(mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1e6;
    const racyMs = ctimeNs % NS_PER_MS === 0n ? RACY_MS.coarse : RACY_MS.fine;
    if (readAt !== undefined && changedAt > readAt - racyMs) this.#isSettled = false;
  }

  /** Null if a file was changed shortly before it was read; git treats such files in the same way (racy-git). */
  end(): string | null {
    const key = this.#hash.digest('base64');
    return this.#isSettled ? key : null;
  }
}
