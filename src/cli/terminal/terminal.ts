import type { AppError } from '../../core/errors.ts';
import {
  exactData,
  joinPrintable,
  type Printable,
  printable,
  printableJson,
  printableLine,
  printableText,
} from '../../core/text/printable.ts';
import { withoutUserinfo } from '../../core/redact.ts';
import { cutToWidth } from '../../core/text/textWidth.ts';
import { TerminalText } from '../../jobs/log/terminalOutput.ts';
import { Output, type StreamName, type TextStream } from './output.ts';
import { canRedraw, showsColour } from './screen.ts';

const CLEAR_LINE = printable`\r\u001b[2K`;
const LINE_END = printable`\n`;
const DIM = [printable`\u001b[2m`, printable`\u001b[22m`] as const;
const DEFAULT_COLUMNS = 80;

/**
 * Where the command writes. Answers go to stdout; remarks and progress to stderr, so that pipes carry answers alone.
 * With `isJson` stdout carries JSON lines and nothing else, and answers for people go to stderr as well.
 */
export class Terminal {
  readonly isJson: boolean;
  readonly #output: Output;
  readonly #env: NodeJS.ProcessEnv;
  readonly #programTexts = { stdout: new TerminalText(true), stderr: new TerminalText(true) };
  #hasStatus = false;
  #isInsideLine = false;

  /** @param options `env` is the environment that chooses colours; that of the process unless given. */
  constructor(options: { isJson: boolean; stdout: TextStream; stderr: TextStream; env?: NodeJS.ProcessEnv }) {
    this.isJson = options.isJson;
    this.#output = new Output(options);
    this.#env = options.env ?? process.env;
  }

  /** Aborted once stdout accepts no more text: what only prints stops then, and what must be finished goes on. */
  get closed(): AbortSignal {
    return this.#output.closed;
  }

  /** Why stdout failed; undefined while it works, and after its reader left. */
  get failure(): AppError | undefined {
    return this.#output.failure;
  }

  /** Whether somebody looks at this stream. */
  isScreen(stream: StreamName): boolean {
    return this.#output.stream(stream).isTTY === true;
  }

  /** Whether this stream shows colours. */
  hasColour(stream: StreamName): boolean {
    return showsColour(this.isScreen(stream), this.#env);
  }

  /** How many cells a line of stderr has. */
  get columns(): number {
    return this.#output.stream('stderr').columns || DEFAULT_COLUMNS; // 0 where the size is not known
  }

  /** How many cells a line of the answer may take; undefined where nobody looks: a pipe gets everything. */
  get answerColumns(): number | undefined {
    const { isTTY, columns } = this.#output.stream('stdout');
    return isTTY === true ? columns || DEFAULT_COLUMNS : undefined;
  }

  /** A line of the answer, for people. */
  answer(line: string): void {
    this.answerText(printableLine(line));
  }

  /** An answer of several lines. */
  answerText(text: string): void {
    this.#writeLine(this.isJson ? 'stderr' : 'stdout', printableText(text));
  }

  /** One JSON value as a line on stdout, when JSON was asked for. */
  json(value: unknown): void {
    if (this.isJson) this.#write('stdout', joinPrintable([printableJson(value), LINE_END]));
  }

  /** A remark: what is going on, what was decided, what to do next. */
  note(line: string): void {
    this.noteText(printableLine(withoutUserinfo(line)));
  }

  /** A remark of several lines. */
  noteText(text: string): void {
    this.#writeLine('stderr', printableText(text));
  }

  /** A remark of lesser weight. */
  phase(line: string): void {
    const clean = printableLine(withoutUserinfo(line));
    const [start, end] = DIM;
    this.#writeLine('stderr', this.hasColour('stderr') ? joinPrintable([start, clean, end]) : clean);
  }

  /** A piece of what a program of this machine writes: as it is for another program, without more than colours on a screen. */
  programOutput(stream: StreamName, text: string): void {
    this.output(stream, this.isScreen(stream) ? this.#programTexts[stream].push(text) : exactData(text));
  }

  /** A piece of a job's output. */
  output(stream: StreamName, text: Printable): void {
    if (text.length === 0) return;
    this.#write(stream, text);
    if (this.isScreen(stream)) this.#isInsideLine = !text.endsWith('\n');
  }

  /** Shows a line that the next call replaces and any other output removes; nothing where nobody looks. */
  status(line: string): void {
    if (!canRedraw(this.isScreen('stderr'), this.#env)) return;
    this.#endLine();
    this.#output.write(
      'stderr',
      joinPrintable([CLEAR_LINE, printableLine(cutToWidth(printableLine(line), this.columns - 1))]),
    );
    this.#hasStatus = true;
  }

  clearStatus(): void {
    if (this.#hasStatus) this.#output.write('stderr', CLEAR_LINE);
    this.#hasStatus = false;
  }

  /** A promise until the reader of our output has caught up or left; undefined where it has. */
  drained(): Promise<void> | undefined {
    return this.#output.drained();
  }

  /** Returns when stdout has taken, or refused, all that was written to it. */
  flushed(): Promise<void> {
    return this.#output.flushed();
  }

  /** A job's last line may lack its end; ours never begins in the middle of it. */
  #endLine(): void {
    if (this.#isInsideLine) this.#output.write('stderr', LINE_END);
    this.#isInsideLine = false;
  }

  #writeLine(stream: StreamName, text: Printable): void {
    this.#endLine();
    this.#write(stream, joinPrintable([text, LINE_END]));
  }

  #write(stream: StreamName, text: Printable): void {
    this.clearStatus();
    this.#output.write(stream, text);
  }
}
