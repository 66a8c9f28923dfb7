// Shorter beginnings are looked up only where a stream pauses, so that most bytes cost one look into a table.
export const ANCHOR = 4;
const TABLE_BITS = 16;
// Runs of text are searched for beginnings of this length, if all patterns are as long, so that most bytes are not even looked at.
const MAX_WINDOW = 18;
const MIN_WINDOW = 7;
// Less than that of a beginning is found too often by chance.
const MIN_HALF = 6;
// Spreads anchors over the filter (Knuth, The Art of Computer Programming, volume 3, 6.4).
const SPREAD = 0x9e_37_79_b1 | 0;
// More bytes in a row that a pattern skips end its beginning, so that no text is held back without end.
const MAX_SKIPPED = 16;

/** What a byte is to a pattern: a byte to compare, or one of these. */
export const SKIPPED = 0x1_00;
export const NO_PART = 0x1_01;
/** For each byte, what it is. */
export type Alphabet = Uint16Array;

/** A sequence of bytes to search for. */
export interface Sequence {
  readonly bytes: Uint8Array;
  /** By default, all bytes are compared as they are. */
  readonly alphabet?: Alphabet;
  /** How the sequence can begin in the text; by default as it does. */
  readonly heads?: readonly Uint8Array[];
}

class Pattern {
  readonly bytes: Uint8Array;
  readonly alphabet: Alphabet | undefined;
  #fallbacks: Uint32Array | undefined;

  constructor({ bytes, alphabet }: Sequence) {
    this.bytes = bytes;
    this.alphabet = alphabet;
  }

  /** For each length of a beginning: its longest end that is a shorter beginning (Knuth, Morris, Pratt 1977). Most patterns never need it. */
  get fallbacks(): Uint32Array {
    this.#fallbacks ??= fallbacksOf(this.bytes);
    return this.#fallbacks;
  }
}

/** Sequences of at least four bytes; shorter ones occur by chance and are ignored. */
export class PatternSet {
  readonly filter = new Uint8Array(1 << TABLE_BITS);
  /** A one for each byte with which a pattern begins. */
  readonly firsts = new Uint8Array(256);
  /** The length of the beginnings that `shifts` is about; 0 if a pattern is too short for that. */
  readonly window: number;
  /** For the last four bytes of a window: by how much the next window that can be a beginning is later (Wu and Manber 1994). */
  readonly shifts: Uint8Array;
  /** A one for each byte in a window. */
  readonly bytes = new Uint8Array(256);
  /** Whether all bytes of all sequences are ASCII. */
  readonly isAscii: boolean;
  readonly #byAnchor = new Map<number, Pattern[]>();
  readonly #beginnings = new Set<number>();

  constructor(sequences: readonly Sequence[]) {
    const sequenceOfKey = new Map<string, Sequence>();
    for (const sequence of sequences) {
      const name = `${sequence.alphabet === undefined ? '' : 'in '}${Buffer.from(sequence.bytes).toString('latin1')}`;
      if (sequence.bytes.length >= ANCHOR) sequenceOfKey.set(name, sequence);
    }
    const heads: Uint8Array[] = [];
    for (const sequence of sequenceOfKey.values()) {
      const pattern = new Pattern(sequence);
      for (const head of sequence.heads ?? [sequence.bytes]) {
        this.#add(head, pattern);
        heads.push(head);
      }
    }
    const window = Math.min(MAX_WINDOW, ...heads.map((head) => head.length));
    this.window = window < MIN_WINDOW ? 0 : window;
    this.shifts = shiftsOf(heads, window);
    for (const head of heads) for (const byte of head.subarray(0, window)) this.bytes[byte] = 1;
    this.isAscii = [...sequenceOfKey.values()].every(({ bytes }) => bytes.every((byte) => byte < 0x80));
  }

  #add(bytes: Uint8Array, pattern: Pattern): void {
    this.firsts[bytes[0] ?? 0] = 1;
    let anchor = 0;
    for (let length = 1; length <= ANCHOR; length += 1) {
      anchor = (anchor << 8) | (bytes[length - 1] ?? 0);
      if (length < ANCHOR) this.#beginnings.add(beginning(length, anchor));
    }
    const others = this.#byAnchor.get(anchor) ?? [];
    this.#byAnchor.set(anchor, others);
    if (!others.includes(pattern)) others.push(pattern);
    this.filter[slotOf(anchor)] = 1;
  }

  startingWith(anchor: number): readonly Pattern[] {
    return this.#byAnchor.get(anchor) ?? [];
  }

  /** Whether an anchor begins with the last `length` bytes of `last`. */
  hasBeginning(length: number, last: number): boolean {
    return this.#beginnings.has(beginning(length, last));
  }
}

/** A pattern whose beginning is at the end of what was read. */
class OpenPattern {
  readonly pattern: Pattern;
  /** Where each byte of the beginning begins in the text, from `#first` on. */
  readonly #starts: number[] = [];
  #first = 0;
  #skipped = 0;

  constructor(pattern: Pattern) {
    this.pattern = pattern;
  }

  get length(): number {
    return this.#starts.length - this.#first;
  }

  get start(): number {
    return this.#starts[this.#first] ?? 0;
  }

  /** @returns where the pattern begins if it is complete. It is open for the next one then. */
  read(byte: number, start: number): { readonly start: number } | undefined {
    const { alphabet, bytes } = this.pattern;
    const part = alphabet === undefined ? byte : (alphabet[byte] ?? NO_PART);
    if (part === SKIPPED) {
      this.#skipped += 1;
      if (this.#skipped > MAX_SKIPPED) this.#shorten(0);
      return undefined;
    }
    this.#skipped = 0;
    let { length } = this;
    while (length > 0 && bytes[length] !== part) length = this.pattern.fallbacks[length - 1] ?? 0;
    this.#shorten(length);
    if (bytes[length] !== part) return undefined;
    this.#starts.push(start);
    if (length + 1 < bytes.length) return undefined;
    const found = { start: this.start };
    this.#shorten(this.pattern.fallbacks[length] ?? 0);
    return found;
  }

  #shorten(length: number): void {
    this.#first = this.#starts.length - length;
    if (this.#first <= length + ANCHOR) return;
    this.#starts.splice(0, this.#first);
    this.#first = 0;
  }
}

/**
 * Finds the patterns of a set, also overlapping ones, in bytes that arrive one by one. Each byte knows its place in a text, so that the
 * bytes can be a decoded form of that text.
 *
 * The time grows with the number of bytes and of patterns that are open at once, whatever the bytes are.
 */
export class PatternMatcher {
  readonly #set: PatternSet;
  readonly #onMatch: (start: number, end: number) => void;
  /** The last four bytes. */
  #last = 0;
  /** Where they begin in the text, at the number of the byte modulo four. */
  readonly #starts = new Float64Array(ANCHOR);
  #read = 0;
  /** How many bytes were read since the last line break, and since the last reset, up to four. */
  #unbroken = 0;
  #count = 0;
  #open: OpenPattern[] = [];
  /** Whether no pattern has begun four bytes ago or earlier. */
  #isClear = true;
  /** Where the last run ended that has nothing of a pattern, if its last bytes are not in `#starts` yet. */
  #passedEnd: number | undefined;
  /** The bytes of the last run, of which it reads four at once. */
  #viewed: Uint8Array = new Uint8Array();
  #view: DataView = new DataView(new ArrayBuffer(0));

  constructor(set: PatternSet, onMatch: (start: number, end: number) => void) {
    this.#set = set;
    this.#onMatch = onMatch;
  }

  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** @param start where the byte begins in the text. @param end where it ends. */
  read(byte: number, start: number, end: number): void {
    this.#last = (this.#last << 8) | byte;
    this.#isClear = false;
    this.#remember(start);
    if (this.#open.length > 0) this.#advance(byte, start, end);
    if (this.#isAnchored()) this.#openAnchored(end);
  }

  /**
   * Reads the bytes from `at` to `end`, or to an earlier one that decides something.
   *
   * @param base where the first of all bytes is in the text.
   * @returns the index of the first byte that was not read.
   */
  readRun(bytes: Uint8Array, at: number, end: number, base: number): number {
    if (this.#open.length > 0) {
      this.read(bytes[at] ?? 0, base + at, base + at + 1);
      return at + 1;
    }
    if (this.#isClear && this.#passes(this.#viewOf(bytes), at, end)) {
      this.#last = blockAt(bytes, end);
      this.#passedEnd = base + end;
      this.#count = ANCHOR;
      this.#unbroken = ANCHOR;
      return end;
    }
    // What began before the run may continue in it.
    const joined = Math.min(end, at + ANCHOR - 1);
    let index = this.#roll(bytes, at, joined);
    if (index === joined && !this.#isAnchored()) {
      const next = this.#skip(bytes, at, end);
      if (next > index) {
        index = next;
        this.#last = blockAt(bytes, next);
      }
      index = this.#roll(bytes, index, end);
    }
    this.#rememberRun(at, index, base);
    if (this.#isAnchored()) this.#openAnchored(base + index);
    this.#isClear = index === end && end - at >= ANCHOR && this.#open.length === 0 && this.#isOutside(bytes, end);
    return index;
  }

  /**
   * Whether no pattern begins in a line or over its borders, where no beginning is in more than two lines. Of one that is in two, or of which up
   * to three bytes were read before, one line has at least half. Costs less than reading the line, whose bytes are not read by this.
   */
  isFree(bytes: Uint8Array, at: number, end: number): boolean {
    const { window } = this.#set;
    const half = Math.ceil((window - ANCHOR + 1) / 2);
    if (half < MIN_HALF || this.#open.length > 0) return false;
    const view = this.#viewOf(bytes);
    if (this.#hasKnownBlocks(view, at, Math.min(at + half, end))) return false;
    if (this.#hasKnownBlocks(view, Math.max(at, end - half), end)) return false;
    return this.#hasNoBeginning(view, at, end);
  }

  /** Whether all blocks in these bytes are in beginnings of patterns; false if there are fewer than half of a beginning has. */
  #hasKnownBlocks(bytes: DataView, at: number, end: number): boolean {
    const { window, shifts } = this.#set;
    const most = window - ANCHOR + 1;
    if (2 * (end - at) < most) return false;
    for (let place = at; place + ANCHOR <= end; place += 1)
      if (shifts[slotOf(bytes.getInt32(place))] === most) return false;
    return true;
  }

  /**
   * Whether no pattern begins in a run or over its borders, at a cost that does not grow with the number of patterns. A beginning that has
   * four bytes before a border or after it would have these.
   */
  #passes(bytes: DataView, at: number, end: number): boolean {
    const { window, shifts } = this.#set;
    if (window === 0 || end - at < ANCHOR) return false;
    const most = window - ANCHOR + 1;
    if (shifts[slotOf(bytes.getInt32(at))] !== most || shifts[slotOf(bytes.getInt32(end - ANCHOR))] !== most)
      return false;
    return this.#hasNoBeginning(bytes, at, end);
  }

  /** Whether no pattern begins in these bytes, of which the last may be a part of one that continues after them. */
  #hasNoBeginning(bytes: DataView, at: number, end: number): boolean {
    const { window, shifts, filter } = this.#set;
    const most = window - ANCHOR + 1;
    for (let last = at + window - ANCHOR; last <= end - ANCHOR; ) {
      const shift = shifts[slotOf(bytes.getInt32(last))] ?? 0;
      // A processor expects the usual case, and reads the next block before it knows this one.
      if (shift === most) last += most;
      else if (shift > 0) last += shift;
      else if (filter[slotOf(bytes.getInt32(last - window + ANCHOR))] === 1) return false;
      else last += 1;
    }
    return true;
  }

  #viewOf(bytes: Uint8Array): DataView {
    if (bytes !== this.#viewed) {
      this.#viewed = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return this.#view;
  }

  /** Whether the four bytes before `end` are in no beginning of a pattern. */
  #isOutside(bytes: Uint8Array, end: number): boolean {
    const { window, shifts } = this.#set;
    return shifts[slotOf(blockAt(bytes, end))] === window - ANCHOR + 1;
  }

  /** Where the first window begins that may be the beginning of a pattern. */
  #skip(bytes: Uint8Array, at: number, end: number): number {
    const { window, shifts } = this.#set;
    if (window === 0 || at + ANCHOR > end) return at;
    const most = window - ANCHOR + 1;
    let windowEnd = at + window;
    while (windowEnd <= end) {
      const shift = shifts[slotOf(blockAt(bytes, windowEnd))] ?? 0;
      // A processor expects the usual case, and reads the next block before it knows this one.
      if (shift === most) windowEnd += most;
      else if (shift === 0) return windowEnd - window;
      else windowEnd += shift;
    }
    // The last bytes are the beginning of one that continues after the run only if they are in one.
    return Math.max(windowEnd - window, end - window + (shifts[slotOf(blockAt(bytes, end))] ?? 0));
  }

  /** Reads bytes up to the first beginning of a pattern. @returns the index after the last that was read. */
  #roll(bytes: Uint8Array, at: number, end: number): number {
    const { filter } = this.#set;
    let last = this.#last;
    let index = at;
    while (index < end) {
      last = (last << 8) | (bytes[index] ?? 0);
      index += 1;
      if (filter[slotOf(last)] === 1) break;
    }
    this.#last = last;
    return index;
  }

  /** Whether the last bytes may be the beginning of a pattern. */
  #isAnchored(): boolean {
    return this.#set.filter[slotOf(this.#last)] === 1;
  }

  /** A line ends: what is open stays open, but less than an anchor before it is not held back for it. */
  break(): void {
    this.#unbroken = 0;
  }

  /** Nothing continues over this place. */
  reset(): void {
    this.#count = 0;
    this.#unbroken = 0;
    this.#isClear = true;
    if (this.#open.length > 0) this.#open = [];
  }

  /** Where the longest beginning of a pattern at the end begins; infinity if there is none. */
  openStart(): number {
    let start = Number.POSITIVE_INFINITY;
    for (const open of this.#open) start = Math.min(start, open.start);
    for (let length = Math.min(ANCHOR - 1, this.#unbroken); length > 0; length -= 1) {
      if (this.#set.hasBeginning(length, this.#last)) return Math.min(start, this.#startOf(length));
    }
    return start;
  }

  /** Where the byte begins with which the last `length` bytes begin. */
  #startOf(length: number): number {
    if (this.#passedEnd !== undefined) return this.#passedEnd - length;
    return this.#starts[(this.#read - length) & (ANCHOR - 1)] ?? 0;
  }

  #rememberRun(at: number, end: number, base: number): void {
    this.#rememberPassed();
    const first = Math.max(at, end - ANCHOR);
    for (let index = first; index < end; index += 1)
      this.#starts[(this.#read + index - at) & (ANCHOR - 1)] = base + index;
    this.#read += end - at;
    this.#count = Math.min(ANCHOR, this.#count + end - at);
    this.#unbroken = Math.min(ANCHOR, this.#unbroken + end - at);
  }

  #rememberPassed(): void {
    const end = this.#passedEnd;
    if (end === undefined) return;
    this.#passedEnd = undefined;
    for (let length = ANCHOR; length > 0; length -= 1)
      this.#starts[(this.#read - length) & (ANCHOR - 1)] = end - length;
  }

  #remember(start: number): void {
    this.#rememberPassed();
    this.#starts[this.#read & (ANCHOR - 1)] = start;
    this.#read += 1;
    if (this.#count < ANCHOR) this.#count += 1;
    if (this.#unbroken < ANCHOR) this.#unbroken += 1;
  }

  #advance(byte: number, start: number, end: number): void {
    let hasClosed = false;
    for (const open of this.#open) {
      const found = open.read(byte, start);
      if (found !== undefined) this.#onMatch(found.start, end);
      hasClosed ||= open.length === 0;
    }
    if (hasClosed) this.#open = this.#open.filter(({ length }) => length > 0);
  }

  #openAnchored(end: number): void {
    if (this.#count < ANCHOR) return;
    for (const pattern of this.#set.startingWith(this.#last)) {
      if (this.#open.some((open) => open.pattern === pattern)) continue;
      const open = new OpenPattern(pattern);
      for (let index = 0; index < ANCHOR; index += 1) {
        const found = open.read((this.#last >>> (8 * (ANCHOR - 1 - index))) & 0xff, this.#startOf(ANCHOR - index));
        if (found !== undefined) this.#onMatch(found.start, end);
      }
      if (open.length > 0) this.#open.push(open);
    }
  }
}

/** The four bytes before `end`. */
function blockAt(bytes: Uint8Array, end: number): number {
  return (
    ((bytes[end - 4] ?? 0) << 24) | ((bytes[end - 3] ?? 0) << 16) | ((bytes[end - 2] ?? 0) << 8) | (bytes[end - 1] ?? 0)
  );
}

function slotOf(anchor: number): number {
  return Math.imul(anchor, SPREAD) >>> (32 - TABLE_BITS);
}

function shiftsOf(heads: readonly Uint8Array[], window: number): Uint8Array {
  const shifts = new Uint8Array(1 << TABLE_BITS).fill(window - ANCHOR + 1);
  for (const head of heads) {
    for (let end = ANCHOR; end <= window; end += 1) {
      const slot = slotOf(blockAt(head, end));
      shifts[slot] = Math.min(shifts[slot] ?? 0, window - end);
    }
  }
  return shifts;
}

/** A number for `length` bytes, one to three. */
function beginning(length: number, last: number): number {
  return length * 2 ** 24 + (last & (2 ** (8 * length) - 1));
}

function fallbacksOf(bytes: Uint8Array): Uint32Array {
  const fallbacks = new Uint32Array(bytes.length);
  for (let index = 1, length = 0; index < bytes.length; index += 1) {
    while (length > 0 && bytes[length] !== bytes[index]) length = fallbacks[length - 1] ?? 0;
    if (bytes[length] === bytes[index]) length += 1;
    fallbacks[index] = length;
  }
  return fallbacks;
}
