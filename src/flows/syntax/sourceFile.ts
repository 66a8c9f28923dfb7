import { parse } from '@babel/parser';
import type * as t from '@babel/types';
import { messageOf } from '../../core/errors.ts';
import type { SourcePosition, SourceRange, SyntaxProblem } from '../graph/graph.ts';
import { visitNodes } from './nodes.ts';

const SNIPPET_LENGTH = 40;
// A node can be as long as its file. Beyond this length only white space could make a difference.
const SNIPPET_SOURCE = 400;

// The parser reads each character 1.3 times, and a million of them in a tenth of a second.
const READS_PER_CHARACTER = 4;
const MIN_READS = 200_000;
const MAX_SUMMARY = 160;

// Longer comments get no summary: in a generated file, each node would read all of them again.
const MAX_COMMENT = 8_000;

/** One parsed file: its syntax tree, its text, and positions in it. */
export class SourceFile {
  readonly path: string;
  readonly text: string;
  /** Undefined if the text does not parse at all. */
  readonly program: t.Program | undefined;
  readonly syntaxError: SyntaxProblem | undefined;
  #lineStarts: number[] | undefined;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
    const { program, error } = parseText(path, text);
    this.program = program;
    this.syntaxError =
      error === undefined ? undefined : { message: error.message, range: this.rangeOf(error.offset, error.offset) };
  }

  position(offset: number): SourcePosition {
    this.#lineStarts ??= lineStartsOf(this.text);
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { offset, line: low, column: offset - (this.#lineStarts[low] ?? 0) };
  }

  /** The offset of a line and column; the end of the text if it has no such line. */
  offsetAt(line: number, column: number): number {
    this.#lineStarts ??= lineStartsOf(this.text);
    return Math.min((this.#lineStarts[line] ?? this.text.length) + column, this.text.length);
  }

  rangeOf(start: number, end: number): SourceRange {
    return { file: this.path, start: this.position(start), end: this.position(end) };
  }

  range(node: t.Node): SourceRange {
    return this.rangeOf(startOf(node), endOf(node));
  }

  textOf(node: t.Node): string {
    return this.text.slice(startOf(node), endOf(node));
  }

  /** The text of a node in one short line, for messages. */
  snippet(node: t.Node): string {
    const start = this.text.slice(startOf(node), Math.min(endOf(node), startOf(node) + SNIPPET_SOURCE));
    const line = start.replace(/\s+/g, ' ');
    return line.length <= SNIPPET_LENGTH ? line : `${line.slice(0, SNIPPET_LENGTH - 1)}…`;
  }
}

/** The parser always sets the start; its types allow undefined because nodes can also be built by hand. */
export function startOf(node: t.Node): number {
  return node.start ?? 0;
}

export function endOf(node: t.Node): number {
  return node.end ?? 0;
}

interface Parsed {
  readonly program: t.Program | undefined;
  readonly error: { readonly message: string; readonly offset: number } | undefined;
}

function parseText(path: string, text: string): Parsed {
  const isJavaScript = /\.[cm]?jsx?$/.test(path);
  const hasMarkup = /\.[jt]sx$/.test(path) || isJavaScript;
  try {
    const { program, errors } = parse(metered(text), {
      sourceType: 'unambiguous',
      errorRecovery: true,
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      // Positions are computed from offsets, and comments from the text: having the parser store both would double its work.
      attachComment: false,
      locations: false,
      plugins: ['typescript', 'decorators', ...(hasMarkup ? (['jsx'] as const) : [])],
    });
    const [first] = errors ?? [];
    if (first !== undefined) dropMissingArguments(program);
    return { program, error: first === undefined ? undefined : problemOf(first) };
  } catch (error) {
    return { program: undefined, error: problemOf(error) };
  }
}

/** Removes the nulls that the parser leaves when it recovers from `f(a, , b)`, which its types do not mention. */
function dropMissingArguments(program: t.Program): void {
  visitNodes(program, (node) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression' && node.type !== 'OptionalCallExpression')
      return;
    node.arguments = (node.arguments as readonly ((typeof node.arguments)[number] | null)[]).filter(
      (one) => one !== null,
    );
  });
}

function problemOf(error: unknown): { message: string; offset: number } {
  const offset = error instanceof Error && 'pos' in error && typeof error.pos === 'number' ? error.pos : 0;
  return { message: messageOf(error).replace(/ \(\d+:\d+\)$/, ''), offset };
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return starts;
}

/** Thrown by the parser when a text takes too long. It is not a SyntaxError, which the parser would catch to try something else. */
class TooMuchWork extends Error {
  /** How far the parser had come, in characters. */
  readonly pos: number;

  constructor(pos: number) {
    super('The brackets here are nested too deeply to be read');
    this.pos = pos;
  }
}

/**
 * A text that the parser may read only so often. Where a call with type arguments, `f<T>(…)`, has a syntax error, the parser reads it again
 * as a comparison, so that each level of nesting doubles the time: 27 levels would take hours.
 */
class MeteredText extends String {
  readonly #text: string;
  #left: number;

  constructor(text: string) {
    super(text);
    this.#text = text;
    this.#left = MIN_READS + READS_PER_CHARACTER * text.length;
  }

  override charCodeAt(index: number): number {
    this.#left -= 1;
    if (this.#left < 0) throw new TooMuchWork(index);
    return this.#text.charCodeAt(index);
  }
}

/** The text as the parser takes it. Reading it throws `TooMuchWork` in the end. */
function metered(text: string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parser only calls methods of its text
  return new MeteredText(text) as unknown as string;
}

/** The first sentence of the comment directly above a line; undefined if there is none. */
export function summaryAbove(file: SourceFile, offset: number): string | undefined {
  const first = Math.max(0, offset - MAX_COMMENT);
  const text = file.text.slice(first, offset);
  const comment: string[] = [];
  let isBlock = false;
  for (let end = text.lastIndexOf('\n'); end > 0; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    if (start === 0 && first > 0) return undefined;
    const line = text.slice(start, end).trim();
    if (comment.length === 0) isBlock = line.endsWith('*/');
    if (!isBlock && !line.startsWith('//')) break;
    comment.unshift(line);
    if (isBlock && line.includes('/*')) break;
    end = start - 1;
  }
  return comment.length === 0 ? undefined : firstSentence(comment);
}

function firstSentence(lines: readonly string[]): string | undefined {
  const words = lines
    .map((line) => line.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/+)?/, '').replace(/\*\/\s*$/, ''))
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
  // Comments for tools say nothing about the code.
  if (words === '' || /^(?:@|eslint|biome|oxlint|prettier|c8|v8)/.test(words)) return undefined;
  const sentence = /^.*?[.!?](?=\s|$)/.exec(words)?.[0] ?? words;
  return sentence.length <= MAX_SUMMARY ? sentence : `${sentence.slice(0, MAX_SUMMARY - 1)}…`;
}
