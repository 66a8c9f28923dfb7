import { plainText } from '../core/terminalText.ts';

// Colours and text weight only (ECMA-48, SGR): every other sequence can move the cursor, write the clipboard or lie in links.
const KEPT = /(\u001b\[[0-9;:]*m|\r)/;
// A sequence that the next piece of output may complete.
const OPEN_SEQUENCE = /(?:\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\u009c]*|[ -/]*)?|\r)$/;
const MAX_OPEN = 4_096;
const RESET = '\u001b[0m';

/** Cleans a program's output piece by piece, so that it can be appended to a terminal, or to a view that only appends. */
export class TerminalText {
  readonly #isTerminal: boolean;
  #open = '';
  #isLineStart = true;
  #hasColour = false;
  /** The rest of a line that was begun anew by a carriage return; undefined while the line is as the program wrote it. */
  #rewritten: string | undefined;

  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
  }

  push(piece: string): string {
    const text = (this.#open + piece).replaceAll('\r\n', '\n');
    const open = OPEN_SEQUENCE.exec(text)?.[0] ?? '';
    this.#open = open.length > MAX_OPEN ? '' : open;
    const whole = text.slice(0, text.length - open.length);
    return this.#isTerminal ? this.#keepColours(whole) : this.#appendable(whole);
  }

  /** The newest state of a line that is being rewritten, as a line of its own. */
  flush(): string {
    const line = this.#rewritten ?? '';
    this.#rewritten = undefined;
    return line === '' ? '' : this.#emit(`${this.#isLineStart ? '' : '\n'}${line}`);
  }

  /** What brings the cursor to the start of a line, in the terminal's own colours. */
  endLine(): string {
    const rest = this.flush();
    this.#open = '';
    const end = `${rest}${this.#hasColour ? RESET : ''}${this.#isLineStart ? '' : '\n'}`;
    this.#isLineStart = true;
    this.#hasColour = false;
    return end;
  }

  #keepColours(text: string): string {
    const parts = text.split(KEPT).map((part, index) => (index % 2 === 1 ? part : plainText(part)));
    const colour = parts.findLast((part) => part.startsWith('\u001b['));
    if (colour !== undefined) this.#hasColour = !/^\u001b\[0*m$/.test(colour);
    return this.#emit(parts.join(''));
  }

  #appendable(text: string): string {
    let result = '';
    const lines = text.split('\n');
    for (const [index, line] of lines.entries()) {
      const rewrites = line.split('\r');
      const isLast = index === lines.length - 1;
      const first = plainText(rewrites[0] ?? '');
      if (this.#rewritten === undefined) result += this.#emit(first);
      else this.#rewritten += first;
      for (const rewrite of rewrites.slice(1)) {
        // An empty rewrite is a cursor on its way to the next one: what was there still stands.
        const clean = plainText(rewrite);
        if (clean !== '' || this.#rewritten === undefined) this.#rewritten = clean;
      }
      if (!isLast) result += this.flush() + this.#emit('\n');
    }
    return result;
  }

  #emit(text: string): string {
    if (text !== '') this.#isLineStart = text.endsWith('\n');
    return text;
  }
}
