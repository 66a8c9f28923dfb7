import type { Excerpt } from './excerpts.ts';

/** A citation in a text: its position, and the lines that it refers to. */
export interface Citation {
  readonly start: number;
  readonly end: number;
  readonly file: string;
  /** From 1; the last line is included. */
  readonly firstLine: number;
  readonly lastLine: number;
}

const NUMBERS = /(?<![\w\])])\[(\d+(?:\s*,\s*\d+)*)\](?![(\w])/g;
const LINES = /^(?::|#L)(\d+)(?:(?:-|–|-L)(\d+))?/;
const PATH_CHARACTER = /[\p{L}\p{N}_./\\-]/u;

/**
 * The citations of an answer: `path:line`, `path:first-last`, `path#L1-L2`, and `[number]` of an excerpt. Only files that were sent to
 * the model count, so that a made-up path is not linked.
 */
export function findCitations(text: string, excerpts: readonly Excerpt[]): readonly Citation[] {
  const files = new Map(excerpts.map(({ path, file }) => [path, file]));
  const byPath = [...files].flatMap(([path, file]) => citationsOf(text, path, file));
  // `src/a.ts` is also the end of `lib/src/a.ts`.
  const longest = byPath.filter(
    (one) => !byPath.some((other) => other !== one && other.start < one.start && other.end >= one.end),
  );
  return [...longest, ...numbersOf(text, excerpts)].sort((a, b) => a.start - b.start);
}

/** The excerpts that an answer cites, by their number or by lines of theirs. */
export function citedExcerpts(answer: string, excerpts: readonly Excerpt[]): readonly Excerpt[] {
  const citations = findCitations(answer, excerpts);
  return excerpts.filter(({ file, startLine, endLine }) =>
    citations.some((each) => each.file === file && each.firstLine <= endLine && each.lastLine >= startLine),
  );
}

function citationsOf(text: string, path: string, file: string): Citation[] {
  const citations: Citation[] = [];
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + path.length)) {
    const match = LINES.exec(text.slice(at + path.length, at + path.length + 32));
    if (match === null || PATH_CHARACTER.test(text.charAt(at - 1))) continue;
    const firstLine = Number(match[1]);
    const lastLine = Math.max(firstLine, Number(match[2] ?? firstLine));
    citations.push({ start: at, end: at + path.length + match[0].length, file, firstLine, lastLine });
  }
  return citations;
}

function numbersOf(text: string, excerpts: readonly Excerpt[]): Citation[] {
  return [...text.matchAll(NUMBERS)].flatMap((match) => {
    const list = match[1] ?? '';
    return [...list.matchAll(/\d+/g)].flatMap((digits) => {
      const excerpt = excerpts.find(({ number }) => number === Number(digits[0]));
      if (excerpt === undefined) return [];
      const start = match.index + 1 + digits.index;
      const { file, startLine: firstLine, endLine: lastLine } = excerpt;
      return [{ start, end: start + digits[0].length, file, firstLine, lastLine }];
    });
  });
}
