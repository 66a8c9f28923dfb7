import { type Printable, printableText } from '../../core/text/printable.ts';
import { LineShortener, MAX_LINE } from './longLines.ts';
import { LogText, type LogTextOptions } from './logText.ts';
import type { EventSpool, SpooledEvent } from './spool.ts';

/** Starts the lines that Farwharf adds. */
export const MARK = '› ';

export interface ViewTextOptions extends Omit<LogTextOptions, 'colour'> {
  readonly keepsLongLines?: boolean;
}

/** Converts events into text for an editor: the program's own lines, shortened where they are too long, and marked lines of Farwharf. */
export class ViewText {
  readonly #text: LogText;
  readonly #lines: Pick<LineShortener, 'push'>;

  constructor({ keepsLongLines = false, ...options }: ViewTextOptions) {
    this.#lines = keepsLongLines ? { push: (text) => text } : new LineShortener();
    this.#text = new LogText({ ...options, colour: false });
  }

  /** @param results for the `end` event: what the results are and how to download them. */
  push(event: SpooledEvent, results?: string): Printable {
    if (event.event === 'log') return this.#lines.push(this.#text.push(event));
    const before = this.flush();
    const note = printableText(this.#text.push(event, results).replace(/^(?=.)/gm, MARK));
    return printableText(before + this.#lines.push(note));
  }

  /** The current text of a progress bar, which is not part of the text yet; empty if there is none. */
  get moving(): Printable {
    return printableText(this.#text.moving.slice(0, MAX_LINE));
  }

  /** The last state of a progress bar, as text. */
  flush(): Printable {
    return this.#lines.push(this.#text.flush());
  }

  /** Whether all text so far has been returned and ends a line, so that another instance can continue from here. */
  get isLineStart(): boolean {
    return this.#text.isLineStart;
  }

  /** When the job started, for an instance that continues from here. */
  get startedAt(): string | undefined {
    return this.#text.startedAt;
  }
}

/** Yields the text of a job's log piece by piece, with lines of any length. @throws the signal's reason on abort. */
export async function* wholeLog(spool: Pick<EventSpool, 'read'>, signal: AbortSignal): AsyncGenerator<string, void> {
  const text = new ViewText({ keepsLongLines: true, keepsData: true });
  for await (const event of spool.read({ signal })) yield text.push(event);
  yield text.flush();
}
