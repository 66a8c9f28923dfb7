import { readFile, stat } from 'node:fs/promises';
import { gunzip } from '../../workspace/archive/gzipReader.ts';
import { type TarEntry, TarReader } from '../../workspace/archive/tarReader.ts';
import { type MappedLine, mapLine } from './lineMap.ts';

export interface SubmittedLine {
  /** Path of the archive that was submitted; null if none was stored. */
  readonly archive: string | null;
  /** In the archive, with `/`. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
}

export interface CurrentFile {
  /** Absolute path. */
  readonly file: string;
  /** The text in an unsaved editor; undefined if the file is up to date. */
  readonly text: string | undefined;
}

// Larger files are not source code.
const MAX_BYTES = 5_000_000;

/**
 * Where a line of a submitted file is now. Returns undefined if that cannot be told: the archive was removed, or the texts are too
 * large or too different to compare.
 *
 * @throws the signal's reason on abort.
 */
export async function currentLine(
  { archive, path, line }: SubmittedLine,
  { file, text }: CurrentFile,
  signal?: AbortSignal,
): Promise<MappedLine | undefined> {
  try {
    const submitted = archive === null ? undefined : await readSubmittedFile(archive, path, signal);
    if (submitted === undefined || (await stat(file)).size > MAX_BYTES) return undefined;
    return mapLine(submitted, text ?? (await readFile(file, 'utf8')), line);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

/** The text of one file in an archive; undefined if the archive does not contain it, or it is larger than 5 MB. */
async function readSubmittedFile(archive: string, path: string, signal?: AbortSignal): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let current: TarEntry | undefined;
  let isFound = false;
  const reader = new TarReader({
    begin: (entry) => (current = entry),
    data: (bytes) => {
      if (current?.name === path && current.size <= MAX_BYTES) parts.push(Buffer.from(bytes));
    },
    end: () => (isFound ||= current?.name === path && current.size <= MAX_BYTES),
  });
  for await (const chunk of gunzip(archive, { signal, onBytes: () => {} })) {
    reader.write(chunk);
    if (isFound) return Buffer.concat(parts).toString('utf8');
  }
  return undefined;
}
