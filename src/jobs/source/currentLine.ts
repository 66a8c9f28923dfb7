import { MAX_FILE_BYTES, readArchivedFiles } from '../archives/archivedFiles.ts';
import { packedFilesAt } from '../archives/archives.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';
import { compareLines, type MappedLine, toCurrentLine } from './lineMap.ts';

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
    const map = compareLines(submitted.toString('utf8'), current);
    return map && toCurrentLine(map, line);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}
