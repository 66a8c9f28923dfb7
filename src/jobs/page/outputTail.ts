import { type Printable, printableLine } from '../../core/text/printable.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { ReadableOutput } from '../output/dataLines.ts';
import type { SpooledEvent } from '../log/spool.ts';

const MOST_LINES = 10;
const MOST_CHARACTERS = 300;
// More than the last lines need, and enough for a progress bar that was redrawn many times.
const KEPT_CHARACTERS = 16_000;

/** The last lines of a job's output, in bounded memory. Of a progress bar, only its last state is a line. */
export class OutputTail {
  readonly #output = new ReadableOutput();
  #text = '';

  push({ event, data, own }: SpooledEvent): void {
    const text = own === true ? undefined : logTextOf(event, data);
    if (text === undefined) return;
    this.#text = (this.#text + this.#output.push(data, text).slice(-KEPT_CHARACTERS)).slice(-KEPT_CHARACTERS);
  }

  /** At most 10 lines of at most 300 characters, without blank ones. */
  get lines(): readonly Printable[] {
    return this.#text
      .split(/\r?\n/)
      .map((line) => printableLine((line.split('\r').findLast((part) => part !== '') ?? '').slice(0, MOST_CHARACTERS)))
      .filter((line) => line.trim() !== '')
      .slice(-MOST_LINES);
  }
}
