/** Receives the bytes of a text in UTF-8 without its escapes, each with the place that it comes from. */
export interface UnescapedSink {
  /** @param start where the byte begins in the text. @param end where it ends. */
  read(byte: number, start: number, end: number): void;
  /** Reads bytes of which each is one character. @param base where the first of all is. @returns the index of the first that is not read. */
  readRun(bytes: Uint8Array, at: number, end: number, base: number): number;
  /**
   * Whether nothing that is searched for begins in a line or continues after it, where all lines but the first have at least `SHORT_LINE`
   * characters. Reads nothing.
   */
  isFree(bytes: Uint8Array, at: number, end: number): boolean;
  /** A line ends here. */
  break(): void;
  /** What comes before this place has nothing to do with what follows. */
  reset(): void;
}

// More line breaks, indentation and colour codes in a row than this separate what is before them from what follows.
const MAX_GAP = 200;
// More levels of one escape inside another are not undone.
const MAX_LEVELS = 5;
// More backslashes before a character are not part of its escape.
const MAX_BACKSLASHES = 16;
// The beginning of what is searched for can be in more than two of the lines that are shorter than this.
const SHORT_LINE = 20;
// Looking ahead in less costs more than reading it.
const MIN_AHEAD = 500;
// Where a line has something that is searched for, or is short, the next ones are likely to be too.
const LOOK_AGAIN_AFTER = 300;
// No more of a text is waited for to see how an escape ends.
const LONGEST_ESCAPE = 50;

const [TAB, LINE_FEED, CARRIAGE_RETURN, ESCAPE, SPACE] = [0x09, 0x0a, 0x0d, 0x1b, 0x20];
const [PERCENT, AMPERSAND, BACKSLASH] = [0x25, 0x26, 0x5c];
const MAX_ASCII = 0x7f;

// Anything else is a character by itself. Each is searched for on its own: where most are rare, that is far quicker than one search for all.
// Those beyond ASCII are special if a byte of a pattern is. Line breaks and backslashes are frequent.
const RARE = ['\r', '\u001B', '%', '&'];
const UNICODE = /[\u0080-\uFFFF]/g;
/** For each of them, what follows one that can begin an escape. */
const FOLLOWERS = [undefined, undefined, bytesOf(/[\dA-Fa-fu]/), bytesOf(/[#A-Za-z]/)];
const CONTROL_LETTERS = new Map(
  Object.entries({ a: 0x07, b: 0x08, e: ESCAPE, f: 0x0c, n: LINE_FEED, r: CARRIAGE_RETURN, t: TAB, v: 0x0b }).map(
    ([letter, code]) => [letter.charCodeAt(0), code] as const,
  ),
);
/** What follows a backslash in an escape with digits, and in one that stands for something else than what follows. */
const NUMERIC = bytesOf(/[0123uUx]/);
const CHANGED = bytesOf(/[0123uUxabefnrtv]/);
const UNICODE_ESCAPE = /U([\dA-Fa-f]{8})|u([\dA-Fa-f]{4})|u\{([\dA-Fa-f]{1,6})\}/y;
const HEX_BYTE = /x([\dA-Fa-f]{2})/y;
const OCTAL_BYTE = /[0-3][0-7]{2}/y;
const PERCENT_CODE = new RegExp(`%(?:25){0,${MAX_LEVELS}}(?:u([\\da-f]{4})|([\\da-f]{2}))`, 'iy');
const ENTITY = new RegExp(`&(?:amp;){0,${MAX_LEVELS}}(?:#(\\d{1,7})|#[xX]([\\dA-Fa-f]{1,6})|([A-Za-z]{2,12}));`, 'y');
const COLOUR_CODE = /\[[0-?]{0,28}[ -/]{0,2}[@-~]/y;
// Their beginnings, if a text pauses inside of one.
const UNFINISHED = {
  backslash: /(?:U[\dA-Fa-f]{0,7}|u(?:[\dA-Fa-f]{0,3}|\{[\dA-Fa-f]{0,6})|x[\dA-Fa-f]?|[0-3][0-7]?)$/y,
  percent: new RegExp(`%(?:25){0,${MAX_LEVELS}}(?:u[\\da-f]{0,3}|[\\da-f]?)$`, 'iy'),
  entity: new RegExp(`&(?:amp;){0,${MAX_LEVELS}}(?:#[xX]?[\\dA-Fa-f]{0,7}|[A-Za-z]{0,12})$`, 'y'),
  colourCode: /(?:\[[0-?]{0,28}[ -/]{0,2})?$/y,
};
// The names of characters in ASCII (HTML, section 13.5).
const ENTITY_NAMES = new Map(
  Object.entries({
    '!': 'excl',
    '"': 'quot QUOT',
    '#': 'num',
    $: 'dollar',
    '%': 'percnt',
    '&': 'amp AMP',
    "'": 'apos',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast midast',
    '+': 'plus',
    ',': 'comma',
    '.': 'period',
    '/': 'sol',
    ':': 'colon',
    ';': 'semi',
    '<': 'lt LT',
    '=': 'equals',
    '>': 'gt GT',
    '?': 'quest',
    '@': 'commat',
    '[': 'lsqb lbrack',
    '\\': 'bsol',
    ']': 'rsqb rbrack',
    '^': 'Hat',
    _: 'lowbar UnderBar',
    '`': 'grave',
    '{': 'lcub lbrace',
    '|': 'verbar vert VerticalLine',
    '}': 'rcub rbrace',
    ' ': 'nbsp',
  }).flatMap(([character, names]) => names.split(' ').map((name) => [name, character.charCodeAt(0)] as const)),
);

/** What an escape stands for: a character, or a byte of one in UTF-8. */
interface Decoded {
  readonly code: number;
  readonly isByte?: boolean;
  /** The length of the escape. */
  readonly length: number;
}

/**
 * Undoes what people and programs do to a text that is printed: escapes of JSON, JavaScript, Python and shells, of URLs (RFC 3986) and of
 * HTML, also one inside another, line breaks with the indentation after them, and colour codes (ECMA-48). Backslashes are left out. The
 * sink gets the rest, so that different spellings of a text become the same bytes.
 */
export class UnescapedText {
  readonly #sink: UnescapedSink;
  readonly #isAscii: boolean;
  /** For each rare character, where the next one is, and where the next one beyond ASCII is. */
  readonly #next = new Int32Array(RARE.length + 1);
  readonly #onEscape: (start: number, end: number) => void;
  /** A one for each character that separates what is before it from what follows, also after a backslash. */
  readonly #separators: Uint8Array;
  #text = '';
  /** The same in Latin-1, which is fast to read. */
  #bytes = Buffer.alloc(0);
  /** Where `#text` begins. */
  #base = 0;
  #isEnd = false;
  #at = 0;
  /** How many backslashes are directly before it. */
  #backslashes = 0;
  /** Whether only spaces came since the last line break. */
  #isIndentation = false;
  #lastEnd = 0;
  /** Up to where it has looked for places where nothing begins, and up to where the text is plain. */
  #lookedTo = 0;
  #plainTo = 0;

  /**
   * @param options.isAscii whether the sink does not distinguish other characters. @param options.onEscape is called with the place of each
   * escape, which may be a part of the text that only looks like one, but not with that of a separator. @param options.isSeparator whether nothing that is
   * searched for has a character in ASCII.
   */
  constructor(
    sink: UnescapedSink,
    {
      isAscii,
      isSeparator,
      onEscape,
    }: {
      readonly isAscii: boolean;
      readonly isSeparator: (code: number) => boolean;
      readonly onEscape: (start: number, end: number) => void;
    },
  ) {
    this.#sink = sink;
    this.#isAscii = isAscii;
    this.#onEscape = onEscape;
    this.#separators = Uint8Array.from({ length: MAX_ASCII + 1 }, (_, code) =>
      Number(code !== BACKSLASH && CHANGED[code] === 0 && isSeparator(code)),
    );
  }

  /** Up to where the text is read. What follows may be the beginning of an escape. */
  get position(): number {
    return this.#at - Math.min(this.#backslashes, MAX_BACKSLASHES);
  }

  /**
   * Continues to read.
   *
   * @param text contains the text from the position on. @param base where `text` begins. @param isEnd whether nothing follows.
   */
  read(text: string, base: number, isEnd: boolean): void {
    if (text.length > this.#bytes.length) this.#bytes = Buffer.alloc(2 * text.length);
    this.#bytes.write(text, 'latin1');
    this.#text = text;
    this.#base = base;
    this.#isEnd = isEnd;
    this.#next.fill(-1);
    let at = this.#at - base;
    let [lineFeed, backslash, rare] = [-1, -1, -1];
    while (at < text.length) {
      if (text.length - at > MIN_AHEAD && base + at >= this.#lookedTo && this.#backslashes === 0)
        at = this.#passOver(at);
      if (lineFeed < at) lineFeed = indexIn(text, '\n', at);
      if (backslash < at) backslash = indexIn(text, '\\', at);
      if (rare < at) rare = this.#nextRare(at);
      let special = lineFeed < backslash ? lineFeed : backslash;
      if (rare < special) special = rare;
      if (special > at) {
        const start = this.#startOfRun(at, special);
        if (start !== undefined) {
          if (start < special) this.#readRun(start, special);
          at = special;
          continue;
        }
      }
      if (at === lineFeed && this.#backslashes === 0) {
        this.#isIndentation = true;
        this.#sink.break();
        at += 1;
        continue;
      }
      const length = this.#readSpecial(text.charCodeAt(at), at);
      if (length === 0) break;
      at += length;
    }
    this.#at = base + at;
    if (this.#at - this.#lastEnd > MAX_GAP) this.#sink.reset();
  }

  /** Passes over lines that have nothing of what is searched for. @returns where the last of them begins, or `at` again. */
  #passOver(at: number): number {
    const text = this.#text;
    if (this.#plainTo <= this.#base + at) this.#plainTo = this.#base + this.#plainEnd(at);
    const plainEnd = this.#plainTo - this.#base;
    let passed = at;
    let line = at;
    let start = at;
    let end = indexIn(text, '\n', at);
    while (end < plainEnd && (line === at || end - start >= SHORT_LINE) && this.#sink.isFree(this.#bytes, start, end)) {
      // Something that begins at the end of a line may continue in the next one.
      passed = line;
      line = end + 1;
      start = line;
      while (isBlank(text.charCodeAt(start))) start += 1;
      end = indexIn(text, '\n', start);
    }
    this.#lookedTo = this.#base + (passed === at ? at + LOOK_AGAIN_AFTER : end);
    if (passed === at) return at;
    this.#sink.reset();
    this.#isIndentation = true;
    this.#lastEnd = this.#base + passed;
    return passed;
  }

  /** Up to where the text consists of line breaks, characters by themselves, and backslashes before separators. */
  #plainEnd(at: number): number {
    const text = this.#text;
    const end = this.#nextRare(at);
    for (let place = indexIn(text, '\\', at); place < end; place = indexIn(text, '\\', place + 2)) {
      if (this.#separators[text.charCodeAt(place + 1)] !== 1) return place;
    }
    return end;
  }

  /** Where the next rare character is that may not be one by itself; the length of the text if there is none. */
  #nextRare(at: number): number {
    const next = this.#next;
    let first = this.#text.length;
    for (let kind = 0; kind < next.length; kind += 1) {
      let place = next[kind] ?? 0;
      if (place < at) next[kind] = place = this.#find(kind, at);
      if (place < first) first = place;
    }
    return first;
  }

  #find(kind: number, from: number): number {
    const text = this.#text;
    const mark = RARE[kind];
    if (mark === undefined) {
      UNICODE.lastIndex = from;
      return !this.#isAscii && UNICODE.test(text) ? UNICODE.lastIndex - 1 : text.length;
    }
    const followers = FOLLOWERS[kind];
    let place = indexIn(text, mark, from);
    while (place + 1 < text.length && followers?.[text.charCodeAt(place + 1)] === 0)
      place = indexIn(text, mark, place + 1);
    return place;
  }

  /**
   * Where characters begin that are read as they are, after backslashes and indentation; undefined if backslashes change what follows.
   *
   * @param end where the next special character is.
   */
  #startOfRun(at: number, end: number): number | undefined {
    let start = at;
    if (this.#backslashes > 0) {
      const code = this.#text.charCodeAt(at);
      if (this.#isIndentation || CHANGED[code] === 1) return undefined;
      this.#onEscape(this.#base + at - this.#backslashes, this.#base + at + 1);
      this.#backslashes = 0;
    }
    if (this.#isIndentation) {
      while (start < end && isBlank(this.#text.charCodeAt(start))) start += 1;
      if (start < end) this.#isIndentation = false;
    }
    return start;
  }

  #readRun(start: number, end: number): void {
    if (this.#base + start - this.#lastEnd > MAX_GAP) this.#sink.reset();
    let at = start;
    while (at < end) at = this.#sink.readRun(this.#bytes, at, end, this.#base);
    this.#lastEnd = this.#base + end;
  }

  /** @returns how many characters were read; 0 if more text decides what they are. */
  #readSpecial(code: number, at: number): number {
    if (code === BACKSLASH) {
      this.#backslashes += 1;
      return 1;
    }
    if (this.#backslashes > 0 && NUMERIC[code] !== 1) return this.#readLetter(code, at);
    // Line breaks and other languages are frequent.
    if (this.#backslashes === 0 && code !== PERCENT && code !== AMPERSAND && code !== ESCAPE) {
      this.#putCharacter(code, this.#base + at, this.#base + at + 1);
      return 1;
    }
    const decoded = this.#decode(code, at);
    if (decoded === undefined) return 0;
    const end = at + decoded.length;
    const colours = decoded.code === ESCAPE ? this.#colourCode(end) : 0;
    if (colours === undefined) return 0;
    const start = this.#base + at - this.#backslashes;
    if (end + colours - at + this.#backslashes > 1) this.#onEscape(start, this.#base + end + colours);
    this.#backslashes = 0;
    if (decoded.isByte === true && decoded.code > MAX_ASCII) this.#put(decoded.code, start, this.#base + end);
    else this.#putCharacter(decoded.code, start, this.#base + end);
    return decoded.length + colours;
  }

  /** After backslashes. After an even number of them, a letter is a letter. */
  #readLetter(code: number, at: number): number {
    const control = this.#backslashes % 2 === 1 ? CONTROL_LETTERS.get(code) : undefined;
    const colours = control === ESCAPE ? this.#colourCode(at + 1) : 0;
    if (colours === undefined) return 0;
    const start = this.#base + at - this.#backslashes;
    const length = 1 + colours;
    this.#onEscape(start, this.#base + at + length);
    this.#backslashes = 0;
    this.#putCharacter(control ?? code, start, this.#base + at + 1);
    return length;
  }

  /** Undefined if more text decides. */
  #decode(code: number, at: number): Decoded | undefined {
    if (this.#backslashes > 0) return this.#decodeBackslash(code, at);
    if (code === PERCENT) return this.#decodePercent(at);
    if (code === AMPERSAND) return this.#decodeEntity(at);
    return { code, length: 1 };
  }

  #decodeBackslash(code: number, at: number): Decoded | undefined {
    if (this.#isUnfinished(UNFINISHED.backslash, at)) return undefined;
    const [all, wide, unit, braced] = this.#match(UNICODE_ESCAPE, at);
    if (all !== undefined) return { code: Number.parseInt(wide ?? unit ?? braced ?? '', 16), length: all.length };
    const [hex, digits] = this.#match(HEX_BYTE, at);
    if (hex !== undefined) return { code: Number.parseInt(digits ?? '', 16), isByte: true, length: hex.length };
    const [octal] = this.#match(OCTAL_BYTE, at);
    if (octal !== undefined) return { code: Number.parseInt(octal, 8), isByte: true, length: octal.length };
    return { code, length: 1 };
  }

  #decodePercent(at: number): Decoded | undefined {
    if (this.#isUnfinished(UNFINISHED.percent, at)) return undefined;
    const [all, unit, byte] = this.#match(PERCENT_CODE, at);
    if (all === undefined) return { code: PERCENT, length: 1 };
    return { code: Number.parseInt(unit ?? byte ?? '', 16), isByte: unit === undefined, length: all.length };
  }

  #decodeEntity(at: number): Decoded | undefined {
    if (this.#isUnfinished(UNFINISHED.entity, at)) return undefined;
    const [all, decimal, hex, name] = this.#match(ENTITY, at);
    const digits = decimal ?? hex;
    const code =
      digits === undefined ? ENTITY_NAMES.get(name ?? '') : Number.parseInt(digits, hex === undefined ? 10 : 16);
    return all === undefined || code === undefined ? { code: AMPERSAND, length: 1 } : { code, length: all.length };
  }

  /** The length of a colour code after its first character; undefined if more text decides. */
  #colourCode(at: number): number | undefined {
    if (this.#isUnfinished(UNFINISHED.colourCode, at)) return undefined;
    return this.#match(COLOUR_CODE, at)[0]?.length ?? 0;
  }

  #isUnfinished(pattern: RegExp, at: number): boolean {
    return !this.#isEnd && at + LONGEST_ESCAPE > this.#text.length && this.#match(pattern, at)[0] !== undefined;
  }

  #match(pattern: RegExp, at: number): readonly (string | undefined)[] {
    pattern.lastIndex = at;
    return pattern.exec(this.#text) ?? [];
  }

  #putCharacter(code: number, start: number, end: number): void {
    if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      this.#isIndentation = true;
      this.#sink.break();
    } else if (code !== BACKSLASH && code !== ESCAPE && !(this.#isIndentation && isBlank(code))) {
      forEachByte(code, (byte) => this.#put(byte, start, end));
    }
  }

  #put(byte: number, start: number, end: number): void {
    if (start - this.#lastEnd > MAX_GAP) this.#sink.reset();
    this.#isIndentation = false;
    this.#lastEnd = end;
    this.#sink.read(byte, start, end);
  }
}

/** The length of the text if it does not have the mark. */
function indexIn(text: string, mark: string, from: number): number {
  const place = text.indexOf(mark, from);
  return place === -1 ? text.length : place;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** A table with a one for each byte that is such a character. */
function bytesOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(characters.test(String.fromCharCode(byte))));
}

/** Calls `put` with each byte of a character. Each half of a pair of surrogates has its own three (CESU-8), as texts are cut between them. */
export function forEachByte(code: number, put: (byte: number) => void): void {
  if (code < 0x80) {
    put(code);
  } else if (code < 0x8_00) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x1_00_00) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    forEachByte(0xd8_00 | (((code - 0x1_00_00) >> 10) & 0x3_ff), put);
    forEachByte(0xdc_00 | (code & 0x3_ff), put);
  }
}
