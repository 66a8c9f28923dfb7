// The parser reads each character 1.3 times, and a million of them in a tenth of a second.
const READS_PER_CHARACTER = 4;
const MIN_READS = 200_000;

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
export function metered(text: string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parser only calls methods of its text
  return new MeteredText(text) as unknown as string;
}
