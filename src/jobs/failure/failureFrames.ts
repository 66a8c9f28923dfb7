import { realpath } from 'node:fs/promises';
import { pathInside } from '../../core/files/pathInside.ts';
import { MAX_FILE_BYTES } from '../archives/archivedFiles.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';
import { startedNotebook } from '../selection/script.ts';
import { countedCells, readNotebookCells } from '../../core/text/notebookCells.ts';
import type { JobRecord } from '../ledger/record.ts';
import { SourceFiles } from '../source/sourceFiles.ts';
import { findReferences } from '../source/sourceReference.ts';
import { workspacePaths } from '../source/workspacePath.ts';
import type { SubmittedFiles } from '../archives/submittedFiles.ts';

// The innermost calls say most, and a recursion can have thousands.
const MAX_FRAMES = 8;
const LINES_AROUND = 3;
const MAX_LINE = 300;

/** A line of the job's own code that its output names, with the lines around it as they were when the job ran. */
export interface FailureFrame {
  /** Relative to the folder that was submitted, with `/`. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** The cell of a notebook in which the lines are, as the job counts them. */
  readonly cell?: number;
  /** Of the first line of `lines`, 1-based. */
  readonly firstLine: number;
  readonly lines: readonly string[];
}

type Position = Pick<FailureFrame, 'path' | 'line' | 'cell'>;

/**
 * The last lines of own code that the output names, in the order of the output. They come from the archive that was submitted or, if
 * that is no longer stored, from the folder; links that lead out of the folder are not followed.
 */
export async function failureFrames(
  output: readonly string[],
  record: JobRecord,
  submitted: SubmittedFiles,
  signal: AbortSignal,
): Promise<readonly FailureFrame[]> {
  const positions = new Map<string, Position>();
  const submittedPaths = await submitted.list(record.id).then(
    (files) => new Set(files.map(({ path }) => path)),
    () => undefined,
  );
  const local = new SourceFiles(record);
  const notebook = startedNotebook(record);
  for (const reference of output.flatMap((line) => findReferences(line, notebook))) {
    const path = submittedPaths
      ? workspacePaths(reference.path).find((each) => submittedPaths.has(each))
      : (await local.find(reference.path))?.path;
    if (path === undefined) continue;
    const { line, cell } = reference;
    const key = `${path}:${cell}:${line}`;
    // A repeated position counts where it comes last.
    positions.delete(key);
    positions.set(key, { path, line, ...(cell !== undefined && { cell }) });
  }
  const last = [...positions.values()].slice(-MAX_FRAMES);
  const texts = submittedPaths
    ? await submitted
        .read(record.id, [...new Set(last.map(({ path }) => path))], { signal })
        .catch((): ReadonlyMap<string, Uint8Array> => new Map())
    : new Map<string, Uint8Array>();
  const frames: FailureFrame[] = [];
  for (const position of last) {
    const bytes =
      texts.get(position.path) ?? (submittedPaths ? undefined : await readLocal(record.folder, position.path));
    const frame = bytes && excerpt(position, Buffer.from(bytes).toString('utf8'));
    if (frame !== undefined) frames.push(frame);
  }
  return frames;
}

async function readLocal(folder: string, path: string): Promise<Uint8Array | undefined> {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(`${folder}/${path}`)]);
    return pathInside(root, file) === undefined ? undefined : await readBounded(file, MAX_FILE_BYTES);
  } catch {
    return undefined;
  }
}

function excerpt({ path, line, cell }: Position, text: string): FailureFrame | undefined {
  const source = cell === undefined ? text : sourceOfCell(text, path, cell);
  const all = source?.split(/\r\n|\n|\r/) ?? [];
  if (line < 1 || line > all.length) return undefined;
  const firstLine = Math.max(1, line - LINES_AROUND);
  const lines = all.slice(firstLine - 1, line + LINES_AROUND).map((each) => each.slice(0, MAX_LINE));
  return { path, line, firstLine, lines, ...(cell !== undefined && { cell }) };
}

function sourceOfCell(text: string, path: string, number: number): string | undefined {
  try {
    return countedCells(readNotebookCells(text, path))[number - 1]?.source;
  } catch {
    return undefined; // it is no notebook any more
  }
}
