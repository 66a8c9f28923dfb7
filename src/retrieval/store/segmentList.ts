import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { INDEX_VERSION } from '../segments/segmentFile.ts';
import { NON_BLOCKING_READ } from '../segments/nonBlockingRead.ts';

const LIST = 'segments.json';

/** Which files in an index's folder count. */
export interface SegmentList {
  readonly version: number;
  /** The folder that is indexed. */
  readonly root: string;
  /** File names, oldest first. */
  readonly segments: readonly string[];
  /** The file with the changes after them. */
  readonly journal: string;
}

/** Reads the list; undefined if there is none, or it is damaged, of another version or of another folder. */
export async function readSegmentList(folder: string, root: string): Promise<SegmentList | undefined> {
  const stored = await readFile(join(folder, LIST), { encoding: 'utf8', flag: NON_BLOCKING_READ }).catch(() => '');
  const end = stored.indexOf('\n');
  const text = stored.slice(end + 1);
  if (end < 1 || stored.slice(0, end) !== String(crc32(text))) return undefined;
  const list = parseOwnJson<SegmentList>(text);
  return list.version === INDEX_VERSION && list.root === root ? list : undefined;
}

/** Replaces the list atomically. @throws the system's error; the old list stays then. */
export async function writeSegmentList(folder: string, list: SegmentList): Promise<void> {
  const text = JSON.stringify(list);
  await writeAtomically(join(folder, LIST), `${crc32(text)}\n${text}`);
}

/** A value that changes whenever the list is replaced; empty if there is none. */
export async function markSegmentList(folder: string): Promise<string> {
  const stats = await stat(join(folder, LIST)).catch(() => undefined);
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeMs].join(':');
}
