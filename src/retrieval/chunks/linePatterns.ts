import { isBlank, isLetter, isNamePart } from './characters.ts';
import type { TextLines } from './block.ts';

/** An expression for the first line of a definition, and what is common to all lines that match it, which is checked first. */
export interface LinePattern {
  /** Group 1 is the indentation, group 2 the name. If it begins with `^()` or `^(\s+)`, lines with or without indentation are not tried. */
  readonly expression: RegExp;
  /** The line begins with one of these, after the indentation. */
  readonly begins?: readonly string[];
  /** The line begins with any number of the modifiers, and then one of the keywords. */
  readonly words?: LeadingWords;
  /** The line contains all of these. */
  readonly contains?: readonly string[];
  /** The line does not contain this, unless it begins with an attribute. */
  readonly lacks?: string;
  /** The last character that is not blank. */
  readonly ends?: string;
  /** The line is no statement: it does not end in a semicolon, or contains a brace. */
  readonly isOpen?: boolean;
  /** Before the first parenthesis there are a type and a name, or a macro if there is another parenthesis. */
  readonly hasTypedName?: 'always' | 'behindMacros';
}

export interface LeadingWords {
  readonly modifiers: ReadonlySet<string>;
  readonly keywords: ReadonlySet<string>;
}

/** A pattern in the form that is fast to check; all have the same fields. */
interface Prepared {
  readonly expression: RegExp;
  readonly words: LeadingWords | undefined;
  /** Numbers of texts. */
  readonly contains: readonly number[];
  readonly lacks: number;
  readonly isOpen: boolean;
  readonly hasTypedName: LinePattern['hasTypedName'];
}

const AT_MARGIN = '^()';
const INSIDE = /^\^\(\\[st]\+?\)/;
const CHECKED = 4;
const CODES = 128;
const SPACE = 32;
const SEMICOLON = 59;
const ATTRIBUTE = '@[<';
const NONE = -1;

/** The patterns of a language. Most lines of code match none, which is found out without an expression. */
export class LinePatternSet {
  readonly patterns: readonly Prepared[];
  /** The texts that patterns require or exclude; the first two are those that any may refer to. */
  readonly texts = ['(', '{'];
  /** For each of the first characters of a line, and for its last, by its code: a bit for each pattern that may match. */
  readonly #masks = new Uint32Array((CHECKED + 1) * CODES);
  #marginMask = 0;
  #insideMask = 0;

  constructor(patterns: readonly LinePattern[]) {
    this.patterns = patterns.map(({ expression, words, contains = [], lacks, isOpen = false, hasTypedName }) => ({
      expression,
      words,
      contains: contains.map((text) => this.#numberOf(text)),
      lacks: lacks === undefined ? NONE : this.#numberOf(lacks),
      isOpen,
      hasTypedName,
    }));
    for (const [at, { expression, begins = [''], ends }] of patterns.entries()) {
      const bit = 1 << at;
      if (!INSIDE.test(expression.source)) this.#marginMask |= bit;
      if (!expression.source.startsWith(AT_MARGIN)) this.#insideMask |= bit;
      const all = expression.ignoreCase ? begins.flatMap((text) => [text.toLowerCase(), text.toUpperCase()]) : begins;
      for (let place = 0; place < CHECKED; place += 1) {
        const codes = all.map((text) => (text.length > place ? text.charCodeAt(place) : NONE));
        this.#allow(bit, place, codes.includes(NONE) ? undefined : codes);
      }
      this.#allow(bit, CHECKED, ends === undefined ? undefined : [ends.charCodeAt(0)]);
    }
  }

  /** A bit for each pattern that the indentation and the first and last characters of a line allow. */
  candidates(text: string, start: number, at: number, last: number): number {
    let mask = at > start ? this.#insideMask : this.#marginMask;
    if (last < CODES) mask &= this.#masks[CHECKED * CODES + last] ?? 0;
    for (let place = 0; place < CHECKED && mask !== 0; place += 1) {
      const code = text.charCodeAt(at + place);
      if (!(code < CODES)) return mask;
      mask &= this.#masks[place * CODES + code] ?? 0;
    }
    return mask;
  }

  #allow(bit: number, place: number, codes: readonly number[] | undefined): void {
    for (let code = 0; code < CODES; code += 1) {
      // Other characters below a space may be white space, which the expressions handle.
      const isAllowed = codes === undefined || code < SPACE || codes.includes(code);
      if (isAllowed) this.#masks[place * CODES + code] = (this.#masks[place * CODES + code] ?? 0) | bit;
    }
  }

  #numberOf(text: string): number {
    if (!this.texts.includes(text)) this.texts.push(text);
    return this.texts.indexOf(text);
  }
}

/** Matches the lines of a text, from first to last, with the patterns of a language. */
export class LineMatcher {
  readonly #lines: TextLines;
  readonly #set: LinePatternSet;
  /** The next occurrence of each text of the set, so that all of the text is searched for it once. */
  readonly #next: Int32Array;

  constructor(lines: TextLines, set: LinePatternSet) {
    this.#lines = lines;
    this.#set = set;
    this.#next = new Int32Array(set.texts.length).fill(NONE);
  }

  /**
   * The match of a line with the first pattern that it matches. Of a line with more characters than `most`, the beginning is matched with
   * the patterns that begin with keywords.
   *
   * @param at the end of its indentation; it is not blank.
   */
  match(line: number, at: number, most = Infinity): RegExpExecArray | null {
    const { text, starts } = this.#lines;
    const start = starts[line] ?? 0;
    const lineEnd = (starts[line + 1] ?? 0) - 1;
    const end = Math.min(lineEnd, start + most);
    let last = end - 1;
    while (isBlank(text.charCodeAt(last))) last -= 1;
    const lastCode = text.charCodeAt(last);
    let left = this.#set.candidates(text, start, at, lastCode);
    for (; left !== 0; left &= left - 1) {
      const pattern = this.#set.patterns[31 - Math.clz32(left & -left)];
      if (pattern === undefined || !this.#mayMatch(pattern, start, at, end, lastCode)) continue;
      if (end < lineEnd && pattern.words === undefined) continue;
      const match = pattern.expression.exec(text.slice(start, end));
      if (match !== null) return match;
    }
    return null;
  }

  #mayMatch(pattern: Prepared, start: number, at: number, end: number, last: number): boolean {
    const { words, contains, lacks, isOpen, hasTypedName } = pattern;
    for (const part of contains) if (this.#find(part, start) >= end) return false;
    if (words !== undefined && !hasWords(this.#lines.text, at, words)) return false;
    if (isOpen && last === SEMICOLON && this.#find(1, start) >= end) return false;
    const { text } = this.#lines;
    if (lacks !== NONE && this.#find(lacks, start) < end && !ATTRIBUTE.includes(text.charAt(at))) return false;
    if (hasTypedName === undefined) return true;
    const parenthesis = this.#find(0, start);
    return parenthesis < end && isTyped(text, at, parenthesis, hasTypedName === 'behindMacros' ? end : 0);
  }

  #find(number: number, start: number): number {
    let at = this.#next[number] ?? NONE;
    if (at >= start) return at;
    const { text } = this.#lines;
    at = text.indexOf(this.#set.texts[number] ?? '', start);
    if (at < 0) at = text.length;
    this.#next[number] = at;
    return at;
  }
}

function hasWords(text: string, start: number, { modifiers, keywords }: LeadingWords): boolean {
  for (let at = start; ; ) {
    let end = at;
    while (isLetter(text.charCodeAt(end))) end += 1;
    // Not a word: an attribute, for example.
    if (end === at) return true;
    const word = text.slice(at, end);
    if (keywords.has(word)) return true;
    if (!modifiers.has(word)) return false;
    if (!isBlank(text.charCodeAt(end))) return true;
    at = end;
    while (isBlank(text.charCodeAt(at))) at += 1;
  }
}

/** Whether what is before a parenthesis may be a type and a name. @param macroEnd where another parenthesis may begin. */
function isTyped(text: string, start: number, parenthesis: number, macroEnd: number): boolean {
  // Annotations and type parameters may have parentheses themselves.
  if (ATTRIBUTE.includes(text.charAt(start))) return true;
  let at = parenthesis - 1;
  while (at > start && isBlank(text.charCodeAt(at))) at -= 1;
  const nameEnd = at;
  while (at > start && isNamePart(text.charCodeAt(at))) at -= 1;
  // The symbol of an operator, or type parameters.
  if (at === nameEnd) return at === parenthesis - 1 || text.charAt(at) === '>';
  if (at <= start) {
    const another = text.indexOf('(', parenthesis + 1);
    return another >= 0 && another < macroEnd;
  }
  while (at > start && isBlank(text.charCodeAt(at))) at -= 1;
  return isNamePart(text.charCodeAt(at)) || '>]?*&~"'.includes(text.charAt(at));
}
