import { styleText } from 'node:util';

/** A stream that a person may be looking at. */
export interface TextStream {
  readonly writableNeedDrain?: boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
  once?(event: 'drain', listener: () => void): unknown;
}

const CLEAR_LINE = '\r\u001b[2K';
const DEFAULT_COLUMNS = 80;

/**
 * Where the command writes. Answers go to stdout; remarks and progress to stderr, so that pipes carry answers alone.
 * With `isJson` stdout carries JSON lines and nothing else, and answers for people go to stderr as well.
 */
export class Terminal {
  readonly isJson: boolean;
  readonly #stdout: TextStream;
  readonly #stderr: TextStream;
  #hasStatus = false;
  #isInsideLine = false;

  constructor(options: { isJson: boolean; stdout: TextStream; stderr: TextStream }) {
    this.isJson = options.isJson;
    this.#stdout = options.stdout;
    this.#stderr = options.stderr;
  }

  /** Whether somebody looks at this stream. */
  isScreen(stream: 'stdout' | 'stderr'): boolean {
    return this.#pick(stream).isTTY === true;
  }

  /** Whether this stream shows colours (no-color.org). */
  hasColour(stream: 'stdout' | 'stderr'): boolean {
    return this.isScreen(stream) && !process.env['NO_COLOR'];
  }

  get columns(): number {
    return this.#stderr.columns ?? DEFAULT_COLUMNS;
  }

  /** A line of the answer, for people. */
  answer(line: string): void {
    this.#endLine();
    this.#write(this.isJson ? this.#stderr : this.#stdout, `${line}\n`);
  }

  /** One JSON value as a line on stdout, when JSON was asked for. */
  json(value: unknown): void {
    if (this.isJson) this.#write(this.#stdout, `${JSON.stringify(value)}\n`);
  }

  /** A remark: what is going on, what was decided, what to do next. */
  note(line: string): void {
    this.#endLine();
    this.#write(this.#stderr, `${line}\n`);
  }

  /** A remark of lesser weight. */
  phase(line: string): void {
    this.note(this.hasColour('stderr') ? styleText('dim', line, { validateStream: false }) : line);
  }

  /** A piece of a job's output, as it is. */
  output(stream: 'stdout' | 'stderr', text: string): void {
    if (text === '') return;
    this.#write(this.#pick(stream), text);
    if (this.isScreen(stream)) this.#isInsideLine = !text.endsWith('\n');
  }

  /** Shows a line that the next call replaces and any other output removes; nothing where nobody looks. */
  status(line: string): void {
    if (!this.isScreen('stderr')) return;
    this.#endLine();
    this.#stderr.write(`${CLEAR_LINE}${line.slice(0, this.columns - 1)}`);
    this.#hasStatus = true;
  }

  clearStatus(): void {
    if (this.#hasStatus) this.#stderr.write(CLEAR_LINE);
    this.#hasStatus = false;
  }

  /** A promise until the reader of our output has caught up; undefined where it has. */
  drained(): Promise<void> | undefined {
    const slow = [this.#stdout, this.#stderr].find((stream) => stream.writableNeedDrain === true);
    return slow === undefined ? undefined : new Promise((resolve) => slow.once?.('drain', resolve));
  }

  #pick(stream: 'stdout' | 'stderr'): TextStream {
    return stream === 'stdout' ? this.#stdout : this.#stderr;
  }

  /** A job's last line may lack its end; ours never begins in the middle of it. */
  #endLine(): void {
    if (this.#isInsideLine) this.#stderr.write('\n');
    this.#isInsideLine = false;
  }

  #write(stream: TextStream, text: string): void {
    this.clearStatus();
    stream.write(text);
  }
}
