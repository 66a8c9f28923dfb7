import { diffArrays } from 'diff';

/** Where a line of an older text is in the current one. */
export interface MappedLine {
  /** 1-based. For a deleted line, where it was. */
  readonly line: number;
  readonly isDeleted: boolean;
}

// Texts that differ almost everywhere take quadratic time to compare, and their lines have no counterparts.
const MAX_MS = 500;

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
