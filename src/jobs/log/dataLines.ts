import { textField } from '../../core/jsonFields.ts';
import { MarkedLineReader, textOf } from '../../core/text/markedLines.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';

/** The lines in which a job prints data for its page or a notebook: `farwharf:metric {"step": 10, "loss": 0.3}`. */
const MARKS = { metric: 'farwharf:metric ', picture: 'farwharf:picture ', cell: 'farwharf:cell ' } as const;
// Text that is not the start of an object is a mistake in the program, and stays visible.
const HIDDEN = Object.values(MARKS).map((mark) => `${mark}{"`);
// The user's program did not print these, so programs that read its output do not get them either.
const ALWAYS_HIDDEN = [`${MARKS.cell}{"`];
const LONGEST_HIDDEN = Math.max(...HIDDEN.map(({ length }) => length));
const FIRST = 'f'; // the first letter of each mark, so that most lines cost one comparison
const LINE_END = /\r\n|[\n\r]/;

type Stream = 'stdout' | 'stderr';

/** The data in the marked lines of a job's output, which may begin and end inside an event. */
export class DataLines {
  readonly #mark: string;
  readonly #maxLine: number;
  /** The start of an unfinished line of each stream. */
  readonly #open = new Map<Stream, string>();

  /** @param maxLine characters; longer lines are skipped. */
  constructor(type: keyof typeof MARKS, maxLine: number) {
    this.#mark = MARKS[type];
    this.#maxLine = maxLine;
  }

  /** The data of each line that an event of the job completes; events in order. */
  push({ event, data }: { readonly event: string; readonly data: unknown }): readonly string[] {
    const text = logTextOf(event, data);
    if (text === undefined) return [];
    const stream = streamOf(data);
    const lines = `${this.#open.get(stream) ?? ''}${text}`.split(LINE_END);
    const open = lines.pop() ?? '';
    // Of a line without the mark, only the start is kept. One character too many marks a line as too long, however much follows.
    const length = open.startsWith(this.#mark) ? this.#maxLine + 1 : this.#mark.length;
    this.#open.set(stream, open.slice(0, length));
    return lines
      .filter((line) => line.startsWith(this.#mark) && line.length <= this.#maxLine)
      .map((line) => line.slice(this.#mark.length));
  }
}

/** The text of a job's output as people read it: without its data lines and the values of flows. */
export class ReadableOutput {
  readonly #keepsData: boolean;
  readonly #streams = new Map<Stream, ReadableStream>();

  /** @param keepsData whether data lines that the user's program printed stay in the text, which is for a file or a program. */
  constructor({ keepsData = false } = {}) {
    this.#keepsData = keepsData;
  }

  /** Adds text. @param data of its event, which names its stream. */
  push(data: unknown, text: string): string {
    const stream = streamOf(data);
    const readable = this.#streams.get(stream) ?? new ReadableStream(this.#keepsData);
    this.#streams.set(stream, readable);
    return readable.push(text);
  }

  /** Returns the buffered text, once the output has ended. */
  end(): string {
    return [...this.#streams.values()].map((stream) => stream.end()).join('');
  }

  /** Whether another instance could not continue from here. */
  get isHolding(): boolean {
    return [...this.#streams.values()].some(({ isHolding }) => isHolding);
  }
}

class ReadableStream {
  readonly #hidden: readonly string[];
  readonly #marked = new MarkedLineReader();
  /** The end of the text, while it may be the start of a data line. */
  #held = '';
  #isLineStart = true;
  #isInData = false;

  constructor(keepsData: boolean) {
    this.#hidden = keepsData ? ALWAYS_HIDDEN : HIDDEN;
  }

  push(text: string): string {
    return this.#withoutData(textOf(this.#marked.push(text)));
  }

  end(): string {
    const rest = this.#withoutData(textOf(this.#marked.end())) + this.#held;
    this.#held = '';
    return rest;
  }

  get isHolding(): boolean {
    return this.#marked.isHolding || this.#held !== '' || this.#isInData;
  }

  #withoutData(piece: string): string {
    const text = this.#held + piece;
    this.#held = '';
    let readable = '';
    for (let at = 0; at < text.length; ) {
      if (this.#isLineStart && !this.#isInData && text.charAt(at) === FIRST) {
        const rest = text.slice(at, at + LONGEST_HIDDEN);
        this.#isInData = this.#hidden.some((mark) => rest.startsWith(mark));
        if (!this.#isInData && this.#hidden.some((mark) => mark.startsWith(rest))) {
          this.#held = rest;
          return readable;
        }
      }
      const end = text.indexOf('\n', at) + 1 || text.length;
      if (!this.#isInData) readable += text.slice(at, end);
      this.#isLineStart = text.charAt(end - 1) === '\n';
      if (this.#isLineStart) this.#isInData = false;
      at = end;
    }
    return readable;
  }
}

function streamOf(data: unknown): Stream {
  return textField(data, 'stream') === 'stderr' ? 'stderr' : 'stdout';
}
