import { diffArrays } from 'diff';
import { MAX_FILE_BYTES, readArchivedFiles } from '../archives/archivedFiles.ts';
import { packedFilesAt } from '../archives/archives.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';

// Texts that differ almost everywhere take quadratic time to compare, and their lines have no counterparts.
const MAX_MS = 500;

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

/** Where a line of an older text is in the current one. */
interface MappedLine {
  /** 1-based. For a deleted line, where it was. */
  readonly line: number;
  readonly isDeleted: boolean;
}

/**
 * Where a line of a submitted file is now. Returns undefined if that cannot be determined: the archive was removed, or the texts are too
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
    const current = text ?? (await readBounded(file, MAX_FILE_BYTES))?.toString('utf8');
    if (archive === null || current === undefined) return undefined;
    const submitted = (await readArchivedFiles(packedFilesAt(archive), new Set([path]), signal)).get(path);
    if (submitted === undefined) return undefined;
    return mapLine(submitted.toString('utf8'), current, line);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

/** Maps a 1-based line from one text to another. Returns undefined if the texts have too little in common to tell. */
export function mapLine(older: string, current: string, line: number): MappedLine | undefined {
  const currentLines = linesOf(current);
  const changes = diffArrays(linesOf(older), currentLines, { timeout: MAX_MS });
  if (changes === undefined) return undefined;
  let [olderLine, currentLine] = [1, 1];
  for (const { count, added, removed } of changes) {
    if (!added && line < olderLine + count) {
      if (!removed) return { line: currentLine + line - olderLine, isDeleted: false };
      break;
    }
    if (!added) olderLine += count;
    if (!removed) currentLine += count;
  }
  return { line: Math.min(currentLine, currentLines.length), isDeleted: true };
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}
