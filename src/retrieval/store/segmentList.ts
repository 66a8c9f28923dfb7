import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { INDEX_VERSION } from '../segments/segmentFile.ts';

const LIST = 'segments.json';

/** What counts of the files in an index's folder. */
export interface SegmentList {
  readonly version: number;
  /** The folder that is indexed. */
  readonly root: string;
  /** File names, the oldest first. */
  readonly segments: readonly string[];
  /** The file with what changed after them. */
  readonly journal: string;
}

/** Undefined where there is none, or it is damaged, of another version or of another folder. */
export async function readSegmentList(folder: string, root: string): Promise<SegmentList | undefined> {
  const stored = await readFile(join(folder, LIST), 'utf8').catch(() => '');
  const end = stored.indexOf('\n');
  const text = stored.slice(end + 1);
  if (end < 1 || stored.slice(0, end) !== String(crc32(text))) return undefined;
  const list = JSON.parse(text) as SegmentList; // its checksum says that this program wrote it
  return list.version === INDEX_VERSION && list.root === root ? list : undefined;
}

/** Replaces the list as a whole. @throws the system's error; the old one is there then. */
export async function writeSegmentList(folder: string, list: SegmentList): Promise<void> {
  const text = JSON.stringify(list);
  await writeAtomically(join(folder, LIST), `${crc32(text)}\n${text}`);
}

/** Something that is another one once the list was replaced; empty where there is none. */
export async function markSegmentList(folder: string): Promise<string> {
  const stats = await stat(join(folder, LIST)).catch(() => undefined);
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeMs].join(':');
}
