import { extname } from 'node:path';

/** What a person wrote about code, and the code. */
export interface Pair {
  readonly about: string;
  readonly code: string;
}

const HASH_COMMENTS = new Set(['.py', '.rb', '.sh', '.ex', '.exs', '.pl', '.pm', '.ps1']);
const SLASH_COMMENTS = new Set(
  '.c .cc .cpp .cs .go .groovy .h .hpp .java .js .kt .mjs .php .rs .scala .swift .ts .tsx'.split(' '),
);
const MOST_FILE_LINES = 20_000;
const MOST_CODE_LINES = 28;
const MOST_CODE_CHARACTERS = 1600;
const LEAST_CODE_CHARACTERS = 20;
// Nothing is left of a longer sentence that its beginning does not say.
const MOST_WORDS = 30;
const LEAST_WORDS = 3;
const LEAST_LETTERS = 0.6;
// Licences, and remarks for tools.
const NO_DESCRIPTION =
  /copyright|licen[sc]e|SPDX|rights reserved|eslint|prettier|noinspection|@ts-|pragma|generated|nolint|warranty/i;
const DEFINITION = /^(?:\/\*\*|\/\/\/|(?:async )?def |func |fn |public |private |protected |export |class )/;

export function hasComments(path: string): boolean {
  return SLASH_COMMENTS.has(extname(path)) || HASH_COMMENTS.has(extname(path));
}

/** The comments of a source file and Python's docstrings, each by its first sentence, with the lines that follow. */
export function commentPairs(path: string, text: string): readonly Pair[] {
  const lines = text.split('\n');
  if (lines.length > MOST_FILE_LINES) return [];
  const isHash = HASH_COMMENTS.has(extname(path));
  const isPython = extname(path) === '.py';
  const pairs: Pair[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const end = isPython ? docstringEnd(lines, at) : undefined;
    if (end !== undefined) {
      add(lines.slice(end.from, end.to), [...lines.slice(at, end.from), codeFrom(lines, end.to)].join('\n'));
      at = end.to - 1;
      continue;
    }
    const next = commentEnd(lines, at, isHash);
    if (next === at) continue;
    const isFollowed = lines.slice(next, next + 2).some((line) => line.trim() !== '');
    if (isFollowed) add(lines.slice(at, next), codeFrom(lines, next));
    at = next - 1;
  }
  return pairs;

  function add(comment: readonly string[], code: string): void {
    const about = firstSentence(comment.map(withoutMarks).join('\n'));
    if (about !== undefined && code.length > LEAST_CODE_CHARACTERS) pairs.push({ about, code });
  }
}

/** The first sentence of a description; undefined for what is none. */
export function firstSentence(text: string): string | undefined {
  const [paragraph = ''] = text
    .replaceAll(/\{@?\w+\s+([^}]*)\}/g, '$1')
    .replaceAll(/<[^>]{1,40}>/g, ' ')
    .split(/\n\s*\n|(?:^|\n)\s*[@:\\]\w+|\n\s*(?:Args|Parameters|Returns|Arguments|Examples?|Notes?)\b/);
  const plain = paragraph.replaceAll(/\s+/g, ' ').trim();
  const words = (/^.{40,}?[.!?:](?= )/.exec(plain)?.[0] ?? plain).split(' ').slice(0, MOST_WORDS);
  const sentence = words.join(' ');
  const letters = sentence.match(/[a-z]/gi)?.length ?? 0;
  const signs = sentence.match(/[{}()[\];=<>|&*/\\_$]/g)?.length ?? 0;
  if (words.filter((word) => /[a-z]{2}/i.test(word)).length < LEAST_WORDS || NO_DESCRIPTION.test(sentence)) {
    return undefined;
  }
  return signs > words.length || letters < LEAST_LETTERS * sentence.length ? undefined : sentence;
}

/** The line after the comment that begins at a line; the same line if none does. */
function commentEnd(lines: readonly string[], start: number, isHash: boolean): number {
  const first = lines[start]?.trim() ?? '';
  let at = start;
  if (!isHash && first.startsWith('/*')) {
    while (at < lines.length && lines[at]?.includes('*/') !== true) at += 1;
    return Math.min(lines.length, at + 1);
  }
  const mark = isHash ? '#' : '//';
  if (first.startsWith('#!')) return start;
  while (lines[at]?.trim().startsWith(mark) === true) at += 1;
  return at;
}

/** The lines of the docstring of the function or class that begins at a line. */
function docstringEnd(lines: readonly string[], start: number): { from: number; to: number } | undefined {
  if (!/^\s*(?:(?:async )?def|class) /.test(lines[start] ?? '')) return undefined;
  let from = start + 1;
  while (from < start + MOST_CODE_LINES && lines[from - 1]?.trimEnd().endsWith(':') === false) from += 1;
  const quotes = /^\s*[rRuU]?("""|''')/.exec(lines[from] ?? '')?.[1];
  if (quotes === undefined) return undefined;
  const isOneLine = (lines[from] ?? '').trim().lastIndexOf(quotes) > 1;
  const to = isOneLine ? from : lines.findIndex((line, at) => at > from && line.includes(quotes));
  return to < 0 ? undefined : { from, to: to + 1 };
}

/** The lines up to the next definition, or the end of the block. */
function codeFrom(lines: readonly string[], start: number): string {
  const code: string[] = [];
  let indent: number | undefined;
  let characters = 0;
  for (const line of lines.slice(start, start + 2 * MOST_CODE_LINES)) {
    const own = line.trim();
    if (own === '') continue;
    const depth = line.length - line.trimStart().length;
    indent ??= depth;
    if (depth < indent || (code.length > 2 && depth === indent && DEFINITION.test(own))) break;
    code.push(own);
    characters += own.length;
    if (code.length >= MOST_CODE_LINES || characters >= MOST_CODE_CHARACTERS) break;
  }
  return code.join('\n');
}

function withoutMarks(line: string): string {
  return line
    .trim()
    .replace(/^(?:\/\*+!?|\*+\/|\*+|\/\/+[!/]?|#+|[rRuU]?(?:"""|'''))\s?/, '')
    .replace(/\*+\/$|"""$|'''$/, '');
}
