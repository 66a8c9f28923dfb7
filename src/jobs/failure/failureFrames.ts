import { realpath } from 'node:fs/promises';
import { pathInside } from '../../core/files/pathInside.ts';
import { MAX_FILE_BYTES } from '../archives/archivedFiles.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';
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
  /** Of the first line of `lines`, 1-based. */
  readonly firstLine: number;
  readonly lines: readonly string[];
}

type Position = Pick<FailureFrame, 'path' | 'line'>;

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
  for (const reference of output.flatMap((line) => findReferences(line))) {
    const path = submittedPaths
      ? workspacePaths(reference.path).find((each) => submittedPaths.has(each))
      : (await local.find(reference.path))?.path;
    if (path === undefined) continue;
    const key = `${path}:${reference.line}`;
    // A repeated position counts where it comes last.
    positions.delete(key);
    positions.set(key, { path, line: reference.line });
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

function excerpt({ path, line }: Position, text: string): FailureFrame | undefined {
  const all = text.split(/\r\n|\n|\r/);
  if (line < 1 || line > all.length) return undefined;
  const firstLine = Math.max(1, line - LINES_AROUND);
  const lines = all.slice(firstLine - 1, line + LINES_AROUND).map((each) => each.slice(0, MAX_LINE));
  return { path, line, firstLine, lines };
}
