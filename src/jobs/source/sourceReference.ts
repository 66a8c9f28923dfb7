import { basename } from 'node:path/posix';

/** A line of source code that a line of output names. */
export interface SourceReference {
  /** Where the reference is in the line of output, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** As printed: absolute or relative, with either separator. For a Java frame, the package as folders and the file name. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based; undefined if the output does not name it. */
  readonly column: number | undefined;
  /** In a notebook: the number of the cell, as the job counts them, in which the line is. */
  readonly cell?: number;
  /** Whether the trace prints the innermost call first, as Node.js and Java do, or last, as Python does; undefined outside of traces. */
  readonly innermost: 'first' | 'last' | undefined;
}

// Longer lines are data rather than messages. The limits also bound the time that hostile output can take.
const MAX_LINE = 2_000;
const MAX_PATH = 512;
export const PYTHON_FRAME = /\bFile "([^"]+)", line (\d{1,7})/g;
const JAVA_FRAME = /\bat ([\w$.]{1,200})\.[\w$<>]{1,100}\(([\w$]{1,100}\.(?:java|kt|scala|groovy)):(\d{1,7})\)/g;
const COLON_POSITION = /:(\d{1,7})(?::(\d{1,7}))?(?![\d.])/g;
const BRACKET_POSITION = /\((\d{1,7})(?:,(\d{1,7}))?\)(?=\s*:|$)/g;
// IPython 8; older versions do not name the line.
const CELL_FRAME = /\bCell In ?\[(\d{1,7})\], line (\d{1,7})/g;
const CELL_FAILURE = /^cell (\d{1,7}) of \d{1,7} of (.{1,255}\.ipynb) failed: /;
const MAYBE_REFERENCE = /[:(]\d|", line \d/;
const IS_TRACE = /^\s*at\s/;
const ENDS_PATH = /[\s"'`<>|*?,;=[\]{}]/;
const FILE_NAME = /[^/\\.:][^/\\:]*\.[A-Za-z]\w{0,15}$/;

/**
 * Finds the references to source code in a line of output: frames of Python, Node.js and Java, and `path:line`, `path:line:column`
 * and `path(line,column)`, which compilers, Rust, Go and most linters print. Whether the files exist is not checked.
 *
 * @param notebook the path of the notebook that the job runs, whose cells its output names.
 */
export function findReferences(output: string, notebook?: string): SourceReference[] {
  const text = output.slice(0, MAX_LINE);
  const inCells = notebook === undefined ? [] : cellReferences(text, notebook);
  if (inCells.length > 0) return inCells;
  if (!MAYBE_REFERENCE.test(text)) return [];
  const frames = [...pythonFrames(text), ...javaFrames(text)];
  if (frames.length > 0) return frames;
  const innermost = IS_TRACE.test(text) ? 'first' : undefined;
  return [COLON_POSITION, BRACKET_POSITION].flatMap((position) =>
    [...text.matchAll(position)].flatMap((match) => {
      const path = pathBefore(text, match.index, text[match.index + match[0].length] === ')');
      if (path === undefined) return [];
      const column = match[2] === undefined ? undefined : Number(match[2]);
      const span = { start: match.index - path.length, end: match.index + match[0].length };
      return [{ ...span, path, line: Number(match[1]), column, innermost } as const];
    }),
  );
}

function pythonFrames(text: string): SourceReference[] {
  return [...text.matchAll(PYTHON_FRAME)].map(([frame, path = '', line], index, all) => {
    const start = all[index]?.index ?? 0;
    return { start, end: start + frame.length, path, line: Number(line), column: undefined, innermost: 'last' };
  });
}

function cellReferences(text: string, path: string): SourceReference[] {
  const shared = { path, column: undefined };
  const [failure = '', number, name] = CELL_FAILURE.exec(text) ?? [];
  if (name === basename(path)) {
    return [
      {
        ...shared,
        start: 0,
        end: failure.length - ' failed: '.length,
        line: 1,
        cell: Number(number),
        innermost: undefined,
      },
    ];
  }
  return [...text.matchAll(CELL_FRAME)].map((match) => {
    const [frame, cell, line] = match;
    const span = { start: match.index, end: match.index + frame.length };
    return { ...shared, ...span, line: Number(line), cell: Number(cell), innermost: 'last' } as const;
  });
}

function javaFrames(text: string): SourceReference[] {
  return [...text.matchAll(JAVA_FRAME)].map((match) => {
    const [frame, className = '', file = '', line = ''] = match;
    const folders = className.split('.').slice(0, -1);
    const end = match.index + frame.length - 1;
    const start = end - file.length - line.length - 1;
    return {
      start,
      end,
      path: [...folders, file].join('/'),
      line: Number(line),
      column: undefined,
      innermost: 'first',
    };
  });
}

/** The path that ends at `end`. In parentheses, it may contain spaces. */
function pathBefore(text: string, end: number, isInParentheses: boolean): string | undefined {
  const earliest = Math.max(0, end - MAX_PATH);
  let start = end;
  while (start > earliest && !endsPath(text, start - 1, isInParentheses)) start -= 1;
  const path = text.slice(start, end);
  return FILE_NAME.test(path) ? path : undefined;
}

function endsPath(text: string, index: number, isInParentheses: boolean): boolean {
  const character = text[index] ?? '';
  if (character === '(' || character === ')') return true;
  if (isInParentheses && character === ' ') return false;
  // A colon belongs to a path only in `file://` and after a drive letter.
  if (character === ':') return !/^:[/\\]/.test(text.slice(index, index + 2));
  return ENDS_PATH.test(character);
}
