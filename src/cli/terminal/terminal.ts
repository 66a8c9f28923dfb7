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

const CLEAR_LINE = printable`\r\u001b[2K`;
const LINE_END = printable`\n`;
const DIM = [printable`\u001b[2m`, printable`\u001b[22m`] as const;
const BOLD = [printable`\u001b[1m`, printable`\u001b[22m`] as const;
const DEFAULT_COLUMNS = 80;

/** A part of a line, in columns from 0. */
export interface CellRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The output of the command. Answers go to stdout, notes and progress to stderr, so that a pipe receives only answers. With `isJson`,
 * stdout receives only JSON lines, and answers for people go to stderr.
 */
export class Terminal {
  readonly isJson: boolean;
  readonly stdio: Output;
  readonly #env: NodeJS.ProcessEnv;
  readonly #programTexts = { stdout: new TerminalText(true), stderr: new TerminalText(true) };
  #hasStatus = false;
  #isInsideLine = false;

  /** @param options.env the environment that decides about colours; the process's own if absent. */
  constructor(options: { isJson: boolean; stdout: TextStream; stderr: TextStream; env?: NodeJS.ProcessEnv }) {
    this.isJson = options.isJson;
    this.stdio = new Output(options);
    this.#env = options.env ?? process.env;
  }

  isScreen(stream: StreamName): boolean {
    return this.stdio.stream(stream).isTTY === true;
  }

  hasColour(stream: StreamName): boolean {
    return showsColour(this.isScreen(stream), this.#env);
  }

  /** The width of stderr in cells. */
  get columns(): number {
    return this.stdio.stream('stderr').columns || DEFAULT_COLUMNS; // 0 if the size is unknown
  }

  /** The width of stdout in cells; undefined if it is not a terminal, because a pipe receives everything. */
  get answerColumns(): number | undefined {
    const { isTTY, columns } = this.stdio.stream('stdout');
    return isTTY === true ? columns || DEFAULT_COLUMNS : undefined;
  }

  /**
   * A line of the answer, for people.
   *
   * @param marks parts of a printable line that are bold where there are colours, in order.
   */
  answer(line: string, marks: readonly CellRange[] = []): void {
    const stream = this.isJson ? 'stderr' : 'stdout';
    const clean = printableLine(line);
    this.#writeLine(stream, this.hasColour(stream) ? embolden(clean, marks) : clean);
  }

  /** An answer of several lines. */
  answerText(text: string): void {
    this.#writeLine(this.isJson ? 'stderr' : 'stdout', printableText(text));
  }

  /** Prints a JSON value as a line on stdout if JSON was requested. Returns whether it was. */
  json(value: unknown): boolean {
    if (this.isJson) this.#write('stdout', joinPrintable([printableJson(value), LINE_END]));
    return this.isJson;
  }

  /** A note: progress, a decision, what to do next. */
  note(line: string): void {
    this.noteText(printableLine(withoutUserinfo(line)));
  }

  /** A note of several lines. */
  noteText(text: string): void {
    this.#writeLine('stderr', printableText(text));
  }

  /** A less important note, which is dim. */
  phase(line: string): void {
    const clean = printableLine(withoutUserinfo(line));
    const [start, end] = DIM;
    this.#writeLine('stderr', this.hasColour('stderr') ? joinPrintable([start, clean, end]) : clean);
  }

  /** A piece of a local program's output: unchanged for a pipe, with only colours for a terminal. */
  programOutput(stream: StreamName, text: string): void {
    this.output(stream, this.isScreen(stream) ? this.#programTexts[stream].push(text) : exactData(text));
  }

  /** A piece of a job's output. */
  output(stream: StreamName, text: Printable): void {
    if (text.length === 0) return;
    this.#write(stream, text);
    if (this.isScreen(stream)) this.#isInsideLine = !text.endsWith('\n');
  }

  /** Shows a line that the next call replaces and any other output removes. Only on a terminal. */
  status(line: string): void {
    if (!canRedraw(this.isScreen('stderr'), this.#env)) return;
    this.#endLine();
    this.stdio.write(
      'stderr',
      joinPrintable([CLEAR_LINE, printableLine(cutToWidth(printableLine(line), this.columns - 1))]),
    );
    this.#hasStatus = true;
  }

  clearStatus(): void {
    if (this.#hasStatus) this.stdio.write('stderr', CLEAR_LINE);
    this.#hasStatus = false;
  }

  /** Ends the last line of a job's output if it is incomplete, so that ours starts on a new one. */
  #endLine(): void {
    if (this.#isInsideLine) this.stdio.write('stderr', LINE_END);
    this.#isInsideLine = false;
  }

  #writeLine(stream: StreamName, text: Printable): void {
    this.#endLine();
    this.#write(stream, joinPrintable([text, LINE_END]));
  }

  #write(stream: StreamName, text: Printable): void {
    this.clearStatus();
    this.stdio.write(stream, text);
  }
}

function embolden(line: Printable, marks: readonly CellRange[]): Printable {
  const [start, end] = BOLD;
  const parts: Printable[] = [];
  let at = 0;
  for (const mark of marks) {
    parts.push(printableLine(line.slice(at, mark.start)), start, printableLine(line.slice(mark.start, mark.end)), end);
    at = mark.end;
  }
  return joinPrintable([...parts, printableLine(line.slice(at))]);
}

/** Environment variables. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a stream gets colours. FORCE_COLOR takes precedence, as in Node.js (force-color.org; `0` and `false` mean no), then NO_COLOR
 * (no-color.org; empty means unset). Otherwise only terminals that are not dumb get colours.
 */
function showsColour(isTTY: boolean, env: Environment): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced) return forced !== '0' && forced !== 'false';
  return isTTY && !env['NO_COLOR'] && !isDumb(env);
}

/** Whether a line can be replaced: not on a terminal without cursor movement, nor in the log of a CI system. */
function canRedraw(isTTY: boolean, env: Environment): boolean {
  return isTTY && !isDumb(env) && (!env['CI'] || env['CI'] === 'false');
}

function isDumb({ TERM }: Environment): boolean {
  return TERM === 'dumb';
}
