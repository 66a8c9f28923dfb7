import type { Block, TextLines } from './block.ts';
import { isBlank, isLetter } from './characters.ts';
import { OPEN_METHOD } from './bracePatterns.ts';
import type { Language } from './languages.ts';
import { LineMatcher, type LinePattern, LinePatternSet } from './linePatterns.ts';

const MODIFIER =
  'export|default|public|private|protected|internal|static|async|abstract|final|override|readonly|declare|unsafe|extern|pub(?:\\([^)]*\\))?';
const MODIFIERS = `(?:(?:${MODIFIER})\\s+)*`;
const KEYWORDS =
  'function\\*?|class|interface|type|enum|struct|trait|impl|def|fn|func|fun|module|namespace|object|record|protocol|extension|sub|procedure';
const VARIABLES = 'const|let|var';
// `func (r *Reader) Name` is Go, `impl<T> Name` is Rust.
const NAMED = new RegExp(
  `^(\\s*)${MODIFIERS}(?:${KEYWORDS})(?:<[^>]*>)?\\s+(?:\\([^)]*\\)\\s*)?([\\p{L}_$][\\p{L}\\p{N}_$]*)`,
  'u',
);
const ASSIGNED = new RegExp(`^()${MODIFIERS}(?:${VARIABLES})\\s+([\\p{L}_$][\\p{L}\\p{N}_$]*)\\s*(?::[^=]+)?=`, 'u');
// A method: a name, parameters and an opening brace, without a keyword that could be a statement.
const METHOD = new RegExp(
  `^(\\s+)${MODIFIERS}(?:(?:get|set)\\s+|\\*\\s*)?#?(?!(?:if|for|while|switch|catch|return|else|do|try|with|new|await)\\b)` +
    '([\\p{L}_$][\\p{L}\\p{N}_$]*)\\s*(?:<[^>]*>)?\\([^;]*\\)\\s*(?::[^;={]+)?\\{\\s*$',
  'u',
);
// C and similar languages: a type and a name at the left margin, with parameters and no semicolon.
const C_FUNCTION =
  /^()(?!(?:if|for|while|switch|return|else|typedef)\b)[A-Za-z_][\w\s*:<>,&]*?[\s*&]([A-Za-z_]\w*)\s*\([^;]*$/;
const LEADING = /^\s*(?:\/\/|\/\*|\*|#(?!include|define|if|endif|else)|@|"""|--|\[)/;

// A longer line is minified or generated, and could make the expressions backtrack for long.
const MAX_LINE = 500;
// The expressions of single languages are more complex: the slowest takes a quarter of a millisecond for a hostile line of this length.
const MAX_PATTERN_LINE = 160;
const NO_SYMBOLS: readonly string[] = [];
const SPACE = 32;
const SMALL_A = 97;
const OPENING_BRACE = 123;
const OPENING_PARENTHESIS = 40;
const CLOSING_PARENTHESIS = 41;
const CLOSING_BRACKET = 93;
const CLOSING_BRACE = 125;
const SLASH = 47;
const STAR = 42;
const QUOTE = 34;
// Definitions are rarely deeper.
const MAX_INDENT = 12;
const MOST_PARAMETERS = 40;
const CLOSED_BY_BRACE = /^\s*\)[^;,]*\{\s*$/;
const LAST_ASCII = 127;
const LETTERS = 26;
const OTHER_PAIR = LETTERS * LETTERS;
const NAMED_PAIRS = pairsOf(MODIFIER, KEYWORDS);
const ASSIGNED_PAIRS = pairsOf(MODIFIER, VARIABLES);

interface Definition {
  readonly line: number;
  readonly indent: number;
  readonly name: string;
}

/**
 * Splits source code at the start of definitions, by keywords and indentation. No grammar is parsed, because that takes ten times as
 * long as all of the indexing. Comments and decorators stay with the definition below them.
 */
export function definitionBlocks(
  lines: TextLines,
  {
    definition,
    comment = LEADING,
    hasOpenMethods = false,
  }: Pick<Language, 'definition' | 'comment' | 'hasOpenMethods'> = {},
): Block[] {
  const patterns = definition instanceof RegExp ? [{ expression: definition }] : definition;
  const definitions = definitionsOf(lines, patterns, hasOpenMethods);
  const starts = definitions.map(({ line }, at) => leadingStart(lines, line, definitions[at - 1]?.line ?? -1, comment));
  const blocks: Block[] = [];
  const enclosing: Definition[] = [];
  let previousEnd = 0;
  const push = (from: number, to: number, symbols: readonly string[], definedAt = from): void => {
    if (to > from)
      blocks.push({ from, to, symbols, definedAt, scope: enclosing.map(({ name }) => name), isApart: false });
  };
  for (const [index, definition] of definitions.entries()) {
    const from = Math.max(starts[index] ?? definition.line, previousEnd);
    const to = Math.max(starts[index + 1] ?? lines.count, definition.line + 1);
    push(previousEnd, from, NO_SYMBOLS);
    while ((enclosing.at(-1)?.indent ?? -1) >= definition.indent) enclosing.pop();
    push(from, to, [definition.name], definition.line);
    enclosing.push(definition);
    previousEnd = to;
  }
  push(previousEnd, lines.count, NO_SYMBOLS);
  return blocks;
}

function definitionsOf(
  lines: TextLines,
  patterns: readonly LinePattern[] | undefined,
  hasOpenMethods: boolean,
): Definition[] {
  const definitions: Definition[] = [];
  const matcher = patterns === undefined ? undefined : new LineMatcher(lines, setOf(patterns));
  const { text, starts } = lines;
  for (let line = 0; line < lines.count; line += 1) {
    const start = starts[line] ?? 0;
    const end = (starts[line + 1] ?? 0) - 1;
    if (end - start > MAX_LINE) continue;
    let at = start;
    while (isBlank(text.charCodeAt(at))) at += 1;
    if (at === end) continue;
    const match =
      matcher === undefined ? matchOf(lines, line, at) : matchLine(lines, line, at, matcher, hasOpenMethods);
    if (match !== null) definitions.push({ line, indent: (match[1] ?? '').length, name: match[2] ?? '' });
  }
  return definitions;
}

const SETS = new WeakMap<readonly LinePattern[], LinePatternSet>();

/** Creating one takes as long as matching some hundred lines, so that it is kept. */
function setOf(patterns: readonly LinePattern[]): LinePatternSet {
  let set = SETS.get(patterns);
  if (set === undefined) SETS.set(patterns, (set = new LinePatternSet(patterns)));
  return set;
}

/** Matches a line with the patterns of a language. @param at the end of its indentation; it is not blank. */
function matchLine(
  lines: TextLines,
  line: number,
  at: number,
  matcher: LineMatcher,
  hasOpenMethods: boolean,
): RegExpExecArray | null {
  const { text, starts } = lines;
  const start = starts[line] ?? 0;
  if (at - start > MAX_INDENT || isClosing(text, at)) return null;
  const match = matcher.match(line, at, MAX_PATTERN_LINE);
  const isLong = (starts[line + 1] ?? 0) - start > MAX_PATTERN_LINE;
  return match ?? (hasOpenMethods && !isLong ? openMethodAt(lines, line) : null);
}

/** Tries only the expressions whose first letters or last character the line has; most lines have none. */
function matchOf(lines: TextLines, line: number, at: number): RegExpExecArray | null {
  const { text, starts } = lines;
  const start = starts[line] ?? 0;
  const end = (starts[line + 1] ?? 0) - 1;
  const begin = text.charCodeAt(at);
  // Possibly Unicode white space, which the expressions handle.
  if (begin > LAST_ASCII || begin < SPACE) {
    const rest = lines.slice(line);
    return NAMED.exec(rest) ?? ASSIGNED.exec(rest) ?? METHOD.exec(rest) ?? C_FUNCTION.exec(rest);
  }
  const pair = pairOf(text, at);
  const named = NAMED_PAIRS[pair] === 1 ? NAMED.exec(lines.slice(line)) : null;
  if (named !== null) return named;
  if (at > start) return mayOpen(text, end) ? METHOD.exec(lines.slice(line)) : null;
  const assigned = ASSIGNED_PAIRS[pair] === 1 ? ASSIGNED.exec(lines.slice(line)) : null;
  return assigned ?? (isLetter(begin) ? C_FUNCTION.exec(lines.slice(line)) : null);
}

/** Whether what begins at a position is a comment, or closes something; most lines of code that are no definitions are. */
function isClosing(text: string, at: number): boolean {
  switch (text.charCodeAt(at)) {
    case CLOSING_BRACE:
    case CLOSING_PARENTHESIS:
    case CLOSING_BRACKET:
    case SLASH:
    case QUOTE:
      return true;
    case STAR:
      return text.charCodeAt(at + 1) === SPACE || text.charCodeAt(at + 1) === SLASH;
    default:
      return false;
  }
}

/** A name whose parameters begin in the next line, unless it is a call: after the parameters, there is an opening brace. */
function openMethodAt(lines: TextLines, line: number): RegExpExecArray | null {
  const { text, starts } = lines;
  if (text.charCodeAt((starts[line + 1] ?? 0) - 2) !== OPENING_PARENTHESIS) return null;
  const match = OPEN_METHOD.exec(lines.slice(line));
  if (match === null) return null;
  const indent = match[1] ?? '';
  for (let below = line + 1; below < Math.min(lines.count, line + MOST_PARAMETERS); below += 1) {
    const rest = lines.slice(below);
    if (rest.startsWith(`${indent})`)) return CLOSED_BY_BRACE.test(rest) ? match : null;
  }
  return null;
}

/** False if the last character of a line is neither a brace nor possibly Unicode white space. */
function mayOpen(text: string, end: number): boolean {
  let at = end - 1;
  while (isBlank(text.charCodeAt(at))) at -= 1;
  const last = text.charCodeAt(at);
  return last === OPENING_BRACE || last < SPACE || last > LAST_ASCII;
}

/** A number for a pair of lower-case letters, and one for anything else. */
function pairOf(text: string, at: number): number {
  const first = text.charCodeAt(at) - SMALL_A;
  const second = text.charCodeAt(at + 1) - SMALL_A;
  return first >= 0 && first < LETTERS && second >= 0 && second < LETTERS ? first * LETTERS + second : OTHER_PAIR;
}

function pairsOf(...alternatives: readonly string[]): Uint8Array {
  const pairs = new Uint8Array(OTHER_PAIR + 1);
  for (const words of alternatives) for (const word of words.split('|')) pairs[pairOf(word, 0)] = 1;
  return pairs;
}

/** A definition may look like a comment (`*next() {`, `#read() {`), so the comments above it end at the previous definition. */
function leadingStart(lines: TextLines, definition: number, before: number, comment: RegExp): number {
  let start = definition;
  while (start > before + 1 && comment.test(lines.slice(start - 1))) start -= 1;
  return start;
}
