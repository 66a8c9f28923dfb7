import { printableText } from '../../core/text/printable.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { ReadableOutput } from './dataLines.ts';

/** A coloured part of a line, in UTF-16 code units. */
export interface ColouredPart {
  readonly start: number;
  readonly end: number;
  readonly style: TextStyle;
}

/** What a program asked for with SGR sequences (ECMA-48). */
export interface TextStyle {
  /** One of the 16 colours of terminals, by its number; undefined for the usual one. */
  readonly colour: number | undefined;
  readonly isBold: boolean;
}

// In characters, about 16 MB. The 20,000 lines of the log view take less, unless a job tries to fill the memory.
const MAX_WEIGHT = 8_000_000;
const PART_WEIGHT = 50;
// Longer lines are data rather than messages.
const MAX_LINE = 2_000;
const SEQUENCE = /\u001b\[([0-9;:]*)m/g;
const USUAL: TextStyle = { colour: undefined, isBold: false };
const [RESET, BOLD, NOT_BOLD, EXTENDED, USUAL_COLOUR] = [0, 1, 22, 38, 39];
const [FIRST_COLOUR, FIRST_BRIGHT, COLOURS] = [30, 90, 8];
// The codes that follow an extended colour: `5;n` or `2;r;g;b`.
const INDEXED = 5;
const [INDEXED_CODES, RGB_CODES] = [2, 4];

/**
 * The colours of log lines, stored by the text of the line, because log views are cut, redrawn and read from any position. Keeps the most
 * recent coloured lines, in bounded memory.
 */
export class ColouredLines {
  readonly #lines = new Map<string, readonly ColouredPart[]>();
  #weight = 0;

  /** The coloured parts of a line; none if the line has no colours or is not known. */
  of(line: string): readonly ColouredPart[] {
    return this.#lines.get(line) ?? [];
  }

  /** Starts to read a log. The events that are passed to the result are those of the log, in order. */
  reader(): { push(event: { readonly event: string; readonly data: unknown }): void } {
    const output = new ReadableOutput();
    let open = '';
    let style = USUAL;
    return {
      push: ({ event, data }) => {
        const text = logTextOf(event, data);
        if (text === undefined) return;
        const lines = (open + output.push(data, text)).split(/[\r\n]/);
        open = (lines.pop() ?? '').slice(0, MAX_LINE + 1);
        for (const line of lines) style = this.#add(line, style);
      },
    };
  }

  /** @returns the style at the end of the line. */
  #add(line: string, first: TextStyle): TextStyle {
    if (line.length > MAX_LINE || (first === USUAL && !line.includes('\u001b['))) return first;
    const parts: ColouredPart[] = [];
    let style = first;
    let plain = '';
    let at = 0;
    const addText = (text: string): void => {
      const start = plain.length;
      plain += printableText(text);
      if (plain.length > start && style !== USUAL) parts.push({ start, end: plain.length, style });
    };
    for (const match of line.matchAll(SEQUENCE)) {
      addText(line.slice(at, match.index));
      style = styleAfter(style, match[1] ?? '');
      at = match.index + match[0].length;
    }
    addText(line.slice(at));
    this.#forget(plain);
    if (parts.length > 0) {
      this.#lines.set(plain, parts);
      this.#weight += weightOf(plain, parts);
    }
    for (const oldest of this.#lines.keys()) {
      if (this.#weight <= MAX_WEIGHT) break;
      this.#forget(oldest);
    }
    return style;
  }

  #forget(line: string): void {
    const parts = this.#lines.get(line);
    if (parts === undefined) return;
    this.#lines.delete(line);
    this.#weight -= weightOf(line, parts);
  }
}

function weightOf(line: string, parts: readonly ColouredPart[]): number {
  return line.length + PART_WEIGHT * parts.length;
}

function styleAfter(before: TextStyle, codes: string): TextStyle {
  const numbers = codes.split(/[;:]/).map(Number);
  let { colour, isBold } = before;
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index] ?? 0;
    if (code === RESET) ({ colour, isBold } = USUAL);
    else if (code === BOLD) isBold = true;
    else if (code === NOT_BOLD) isBold = false;
    else if (code === USUAL_COLOUR) colour = undefined;
    else if (code === EXTENDED) {
      // The other colours have no counterpart in the theme.
      const isIndexed = numbers[index + 1] === INDEXED;
      const number = numbers[index + 2] ?? Number.NaN;
      colour = isIndexed && number < 2 * COLOURS ? number : undefined;
      index += isIndexed ? INDEXED_CODES : RGB_CODES;
    } else colour = colourOf(code) ?? colour;
  }
  return colour === undefined && !isBold ? USUAL : { colour, isBold };
}

function colourOf(code: number): number | undefined {
  if (code >= FIRST_COLOUR && code < FIRST_COLOUR + COLOURS) return code - FIRST_COLOUR;
  return code >= FIRST_BRIGHT && code < FIRST_BRIGHT + COLOURS ? code - FIRST_BRIGHT + COLOURS : undefined;
}
