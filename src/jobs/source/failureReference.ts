import { printableText } from '../../core/text/printable.ts';
import type { SourceFiles } from './sourceFiles.ts';
import { findReferences, type SourceReference } from './sourceReference.ts';

const TRACE_LINE = /^\s*at\s/;

/**
 * The reference to the line of the job's own code at which it failed, from the last lines of its output: the innermost call in the last
 * trace, or else the last reference. Returns undefined if the lines refer to no file of the folder.
 *
 * @param notebook the path of the notebook that the job runs.
 */
export async function failureReference(
  lines: readonly string[],
  files: Pick<SourceFiles, 'find'>,
  notebook?: string,
): Promise<SourceReference | undefined> {
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const last = await ownReference(lines[index], files, notebook);
    if (last === undefined) continue;
    if (last.innermost === 'first') return (await firstInTrace(lines, index, files)) ?? last;
    const isFailedCell = last.cell !== undefined && last.innermost === undefined;
    return isFailedCell ? ((await lastInCell(lines.slice(0, index), last.cell, files, notebook)) ?? last) : last;
  }
  return undefined;
}

/** The first reference to own code in the trace that ends at `end`. */
async function firstInTrace(
  lines: readonly string[],
  end: number,
  files: Pick<SourceFiles, 'find'>,
): Promise<SourceReference | undefined> {
  let start = end;
  while (TRACE_LINE.test(lines[start - 1] ?? '')) start -= 1;
  for (const line of lines.slice(start, end)) {
    const reference = await ownReference(line, files);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

/** The last reference to own code in the trace of a cell that failed, which begins in that cell. */
async function lastInCell(
  lines: readonly string[],
  cell: number | undefined,
  files: Pick<SourceFiles, 'find'>,
  notebook: string | undefined,
): Promise<SourceReference | undefined> {
  let last: SourceReference | undefined;
  for (const line of lines.toReversed()) {
    const reference = await ownReference(line, files, notebook);
    last ??= reference;
    if (reference?.innermost === 'last' && reference.cell === cell) return last;
  }
  return undefined;
}

async function ownReference(
  line: string | undefined,
  files: Pick<SourceFiles, 'find'>,
  notebook?: string,
): Promise<SourceReference | undefined> {
  // Python and its kernels colour their traces.
  for (const reference of findReferences(printableText(line ?? ''), notebook).toReversed()) {
    if ((await files.find(reference.path)) !== undefined) return reference;
  }
  return undefined;
}
