import { StringDecoder } from 'node:string_decoder';

const MAX_LINE = 64 * 1024;

export interface OutputLine {
  readonly text: string;
  /** Whether the line ends here. */
  readonly isWhole: boolean;
}

/** Splits a stream of bytes into lines; a line longer than 64 K characters is split into pieces. */
export class OutputLines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  push(bytes: Buffer): readonly OutputLine[] {
    return this.#cut(this.#decoder.write(bytes));
  }

  /** The text after the last line feed. */
  end(): readonly OutputLine[] {
    const lines = this.#cut(this.#decoder.end());
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? lines : [...lines, { text: rest, isWhole: true }];
  }

  #cut(text: string): readonly OutputLine[] {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    const lines = parts.map((line) => ({ text: line.replace(/\r$/, ''), isWhole: true }));
    if (this.#rest.length < MAX_LINE) return lines;
    const piece = this.#rest;
    this.#rest = '';
    return [...lines, { text: piece, isWhole: false }];
  }
}
