import { joinPrintable, type Printable, printable, printableOutput, printableText } from '../../core/text/printable.ts';

// An escape sequence that the next piece of output may complete.
const OPEN_SEQUENCE = /(?:\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\u009c]*|[ -/]*)?|\r)$/;
const MAX_OPEN = 4_096;
// A line that is longer than any progress bar is no longer buffered.
const MAX_REWRITTEN = 64 * 1024;
const NOTHING = printable``;
const RESET = printable`\u001b[0m`;
const LINE_END = printable`\n`;

/** Cleans a program's output piece by piece, for a terminal or for a view that can only append. */
export class TerminalText {
  readonly #isTerminal: boolean;
  #open = '';
  #isLineStart = true;
  #hasColour = false;
  /** The text of a line since a carriage return restarted it; undefined if none did. */
  #rewritten: Printable | undefined;

  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
  }

  push(piece: string): Printable {
    const text = (this.#open + piece).replaceAll('\r\n', '\n');
    const open = OPEN_SEQUENCE.exec(text)?.[0] ?? '';
    this.#open = open.length > MAX_OPEN ? '' : open;
    const whole = text.slice(0, text.length - open.length);
    return this.#isTerminal ? this.#keepColours(whole) : this.#appendable(whole);
  }

  /** The current text of a line that is being rewritten, such as a progress bar; empty if there is none. */
  get rewritten(): Printable {
    return this.#rewritten ?? NOTHING;
  }

  /** Whether nothing is buffered and the text so far ends a line. */
  get isLineStart(): boolean {
    return this.#isLineStart && this.#open === '' && this.#rewritten === undefined;
  }

  /** The latest state of a line that is being rewritten, as a separate line. */
  flush(): Printable {
    const line = this.#rewritten;
    this.#rewritten = undefined;
    return line ? this.#emit(joinPrintable([this.#isLineStart ? NOTHING : LINE_END, line])) : NOTHING;
  }

  /** Text that moves the cursor to the start of a line and resets the colours. */
  endLine(): Printable {
    const rest = this.flush();
    this.#open = '';
    const end = [rest, this.#hasColour ? RESET : NOTHING, this.#isLineStart ? NOTHING : LINE_END];
    this.#isLineStart = true;
    this.#hasColour = false;
    return joinPrintable(end);
  }

  #keepColours(text: string): Printable {
    const clean = printableOutput(text);
    const colour = clean.lastIndexOf('\u001b[');
    if (colour >= 0) this.#hasColour = !/^\u001b\[0*m/.test(clean.slice(colour, colour + MAX_OPEN));
    return this.#emit(clean);
  }

  #appendable(text: string): Printable {
    const result: Printable[] = [];
    const lines = text.split('\n');
    for (const [index, line] of lines.entries()) {
      const rewrites = line.split('\r');
      const isLast = index === lines.length - 1;
      const first = printableText(rewrites[0] ?? '');
      if (this.#rewritten === undefined) result.push(this.#emit(first));
      else this.#rewritten = joinPrintable([this.#rewritten, first]);
      for (const rewrite of rewrites.slice(1)) {
        // An empty rewrite only moves the cursor, so the previous text is still visible.
        const clean = printableText(rewrite);
        if (clean !== '' || this.#rewritten === undefined) this.#rewritten = clean;
      }
      if (!isLast) result.push(this.flush(), this.#emit(LINE_END));
      else if (this.rewritten.length > MAX_REWRITTEN) result.push(this.flush());
    }
    return joinPrintable(result);
  }

  #emit(text: Printable): Printable {
    if (text !== '') this.#isLineStart = text.endsWith('\n');
    return text;
  }
}
