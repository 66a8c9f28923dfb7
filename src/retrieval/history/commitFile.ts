import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import type { Commit } from './commit.ts';
import { NON_BLOCKING_READ } from '../segments/nonBlockingRead.ts';

const FILE = 'commits.json';
const VERSION = 1;

/** The history of a folder, as it is stored with its index. */
export interface StoredHistory {
  readonly head: string | undefined;
  /** The newest first. */
  readonly commits: readonly Commit[];
}

const NONE: StoredHistory = { head: undefined, commits: [] };

/** Reads the history in the folder of an index; none if the file is missing, damaged or of another version. */
export async function readCommitFile(folder: string): Promise<StoredHistory> {
  const stored = await readFile(join(folder, FILE), { encoding: 'utf8', flag: NON_BLOCKING_READ }).catch(() => '');
  const end = stored.indexOf('\n');
  const text = stored.slice(end + 1);
  if (end < 1 || stored.slice(0, end) !== String(crc32(text))) return NONE;
  const { version, ...history } = parseOwnJson<StoredHistory & { readonly version: number }>(text);
  return version === VERSION ? history : NONE;
}

/** Replaces the file atomically, or removes it if there are no commits. @throws the system's error; the old file stays then. */
export async function writeCommitFile(folder: string, history: StoredHistory): Promise<void> {
  if (history.commits.length === 0) return rm(join(folder, FILE), { force: true });
  const text = JSON.stringify({ version: VERSION, ...history });
  await writeAtomically(join(folder, FILE), `${crc32(text)}\n${text}`);
}
