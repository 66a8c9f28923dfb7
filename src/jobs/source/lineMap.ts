import { diffArrays } from 'diff';

// Texts that differ almost everywhere take quadratic time to compare, and their lines have no counterparts.
const MAX_MS = 500;

/** Lines that two texts share. Lines are 1-based. */
interface SharedLines {
  readonly older: number;
  readonly current: number;
  readonly count: number;
}

/** Which lines of a text are in another one. Plain data, so that a thread can compute it for another. */
export interface LineMap {
  /** In the order of the lines. */
  readonly shared: readonly SharedLines[];
  readonly currentLength: number;
}

/** Where a line of an older text is in the current one. */
export interface MappedLine {
  /** 1-based. For a deleted line, where it was. */
  readonly line: number;
  readonly isDeleted: boolean;
}

/** Compares two texts, whatever their line ends. Returns undefined if they have too little in common to be compared in 500 ms. */
export function compareLines(older: string, current: string): LineMap | undefined {
  const currentLines = linesOf(current);
  const changes = diffArrays(linesOf(older), currentLines, { timeout: MAX_MS });
  if (changes === undefined) return undefined;
  const shared: SharedLines[] = [];
  let [olderLine, currentLine] = [1, 1];
  for (const { count, added, removed } of changes) {
    if (!added && !removed) shared.push({ older: olderLine, current: currentLine, count });
    if (!added) olderLine += count;
    if (!removed) currentLine += count;
  }
  return { shared, currentLength: currentLines.length };
}

/** Where a 1-based line of the older text is now. */
export function toCurrentLine({ shared, currentLength }: LineMap, line: number): MappedLine {
  let next = 1;
  for (const { older, current, count } of shared) {
    if (line < older) break;
    if (line < older + count) return { line: current + line - older, isDeleted: false };
    next = current + count;
  }
  return { line: Math.min(next, currentLength), isDeleted: true };
}

/** Where a 1-based line of the current text was; undefined if it was added since. */
export function toOlderLine({ shared }: LineMap, line: number): number | undefined {
  const run = shared.find(({ current, count }) => line >= current && line < current + count);
  return run && run.older + line - run.current;
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}
