import { ANCHOR, PatternMatcher, PatternSet } from './patternMatcher.ts';
import { spellingsOf } from './secretSpellings.ts';
import { forEachByte, UnescapedText } from './unescapedText.ts';

const PLACEHOLDER = '[redacted]';

/** One stream of text. */
export interface RedactedStream {
  /** The redacted text, without an end that may be the beginning of a value. */
  push(text: string): string;
  /** The end that was held back. */
  end(): string;
  /** Whether a value was replaced in what was returned so far. */
  readonly hasReplaced: boolean;
}

interface PatternSets {
  readonly exact: PatternSet;
  readonly unescaped: PatternSet;
  readonly hasShort: boolean;
}

/**
 * Replaces known values in text, however they are spelled: as they are, line by line, in base64 and hexadecimal, with the escapes of JSON,
 * programs, URLs and HTML, and over line breaks and colour codes.
 *
 * @returns undefined without values.
 */
export function openRedactor(values: readonly string[]): SecretRedactor | undefined {
  return values.length === 0 ? undefined : new SecretRedactor(values);
}

export class SecretRedactor {
  readonly #sets: PatternSets;

  constructor(values: readonly string[]) {
    const { exact, unescaped, hasShort } = spellingsOf(values);
    this.#sets = { exact: new PatternSet(exact), unescaped: new PatternSet(unescaped), hasShort };
  }

  redact(text: string): string {
    const stream = this.stream();
    return stream.push(text) + stream.end();
  }

  /** A value with all of its texts redacted, names of fields too. */
  redactValue(value: unknown): unknown {
    if (typeof value === 'string') return this.redact(value);
    if (typeof value === 'number') {
      const digits = String(value);
      const clean = this.redact(digits);
      return clean === digits ? value : clean;
    }
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [this.redact(name), this.redactValue(item)]));
  }

  /** For one stream of text: holds back an end that may be the beginning of a value, until more of the text decides it. */
  stream(): RedactedStream {
    const sets = this.#sets;
    let stream = new TextStream(sets);
    let hasReplaced = false;
    return {
      push: (text) => stream.push(text, false),
      end: () => {
        const rest = stream.push('', true);
        hasReplaced ||= stream.hasReplaced;
        stream = new TextStream(sets);
        return rest;
      },
      get hasReplaced() {
        return hasReplaced || stream.hasReplaced;
      },
    };
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

class TextStream {
  readonly #unescaped: PatternMatcher;
  readonly #unescapedText: UnescapedText;
  /** For values that begin inside of what looks like an escape. */
  readonly #exact: PatternMatcher;
  /** Up to where it has read, and up to where it must read at least. */
  #exactAt = 0;
  #exactEnd: number;
  /** What was read, and not returned. */
  #held = '';
  /** Where it begins in the whole text. */
  #base = 0;
  /** Values that were found in it. */
  #found: Range[] = [];
  /** Where the last value that was replaced ends. */
  #replacedTo = 0;

  constructor({ exact, unescaped, hasShort }: PatternSets) {
    const onMatch = (start: number, end: number): void => {
      this.#found.push({ start, end });
    };
    this.#exact = new PatternMatcher(exact, onMatch);
    this.#exactEnd = hasShort ? Number.POSITIVE_INFINITY : 0;
    this.#unescaped = new PatternMatcher(unescaped, (start, end) => onMatch(this.#withBackslashes(start), end));
    // A value can begin at each of its characters but the first.
    const onEscape = (start: number, end: number): void => {
      for (let place = Math.max(start + 1, this.#base); place < end; place += 1) {
        const code = this.#held.charCodeAt(place - this.#base);
        if (code < 0x80 ? exact.firsts[code] !== 1 : exact.isAscii) continue;
        this.#readExactly(place, end + ANCHOR);
        return;
      }
    };
    this.#unescapedText = new UnescapedText(this.#unescaped, {
      isAscii: unescaped.isAscii,
      isSeparator: (code) => unescaped.bytes[code] === 0 && exact.firsts[code] === 0,
      onEscape,
    });
  }

  get hasReplaced(): boolean {
    return this.#replacedTo > 0;
  }

  push(text: string, isEnd: boolean): string {
    this.#held += text;
    this.#readExactly(this.#exactAt, this.#exactEnd);
    this.#unescapedText.read(this.#held, this.#base, isEnd);
    const end = this.#base + this.#held.length;
    return this.#release(isEnd ? end : Math.min(end, this.#openStart()));
  }

  /** Where what may be the beginning of a value begins. */
  #openStart(): number {
    const unescaped = this.#withBackslashes(this.#unescaped.openStart());
    return Math.min(this.#unescapedText.position, unescaped, this.#exact.openStart());
  }

  /** Where the backslashes before a place begin, which are a part of the escape that is there. */
  #withBackslashes(place: number): number {
    let start = place;
    while (this.#held[start - 1 - this.#base] === '\\') start -= 1;
    return start;
  }

  /** Reads the text as it is, and to the end of a value that has begun there. */
  #readExactly(from: number, to: number): void {
    if (from > this.#exactAt) {
      this.#exact.reset();
      this.#exactAt = from;
    }
    this.#exactEnd = Math.max(this.#exactEnd, to);
    const end = this.#base + this.#held.length;
    while (this.#exactAt < end && (this.#exactAt < this.#exactEnd || this.#exact.isOpen)) {
      const place = this.#exactAt;
      forEachByte(this.#held.charCodeAt(place - this.#base), (byte) => this.#exact.read(byte, place, place + 1));
      this.#exactAt += 1;
    }
  }

  /** Returns the text up to a place, or up to the end of a value over that place, without the values. */
  #release(place: number): string {
    let clean = '';
    let at = this.#base;
    const found = this.#found.toSorted((a, b) => a.start - b.start);
    this.#found = [];
    for (const { start, end } of found) {
      if (start >= place) {
        this.#found.push({ start, end });
        continue;
      }
      if (start > at) clean += this.#held.slice(at - this.#base, start - this.#base);
      // What overlaps is one secret to a reader.
      if (start >= this.#replacedTo) clean += PLACEHOLDER;
      at = Math.max(at, end);
      this.#replacedTo = Math.max(this.#replacedTo, end);
    }
    const end = Math.max(at, place);
    clean += this.#held.slice(at - this.#base, end - this.#base);
    this.#held = this.#held.slice(end - this.#base);
    this.#base = end;
    return clean;
  }
}
