import { readIndexedFile } from './indexedFile.ts';
import type { Segment, Source } from '../segments/segment.ts';
import { SegmentBuilder } from '../segments/segmentBuilder.ts';

/** A file to read, and the hash of the version in the index. */
export interface BuildTask {
  readonly path: string;
  readonly knownHash?: string | undefined;
}

export interface Built {
  readonly segment: Segment;
  /** Files that were touched but have the same bytes as in the index; they are not in the segment. */
  readonly same: readonly Source[];
  /** Files that do not exist. */
  readonly missing: readonly string[];
}

/** Reads files of a folder and builds a segment; `removed` lists paths that it removes from older segments. */
export function buildFiles(root: string, tasks: Iterable<BuildTask>, removed: readonly string[] = []): Built {
  const builder = new SegmentBuilder();
  const same: Source[] = [];
  const missing: string[] = [];
  for (const { path, knownHash } of tasks) {
    const file = readIndexedFile(root, path);
    if (file === undefined) missing.push(path);
    else if (file.source.hash === knownHash) same.push(file.source);
    else builder.add(file.source, file.chunks);
  }
  for (const path of removed) builder.add({ path, size: 0, mtimeMs: 0, hash: '', status: 'removed' }, []);
  return { segment: builder.finish(), same, missing };
}
