import * as l10n from '@vscode/l10n';
import { numberField, textField } from '../../core/jsonFields.ts';
import { formatCredits, formatDuration } from '../../core/text/format.ts';
import { describeHours, hoursOf } from '../../core/text/machineHours.ts';
import { joinPrintable, type Printable, printable, printableLine } from '../../core/text/printable.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { ReadableOutput } from './dataLines.ts';
import { noteOf, stateOf } from './jobPatch.ts';
import { stateWord } from '../ledger/jobIcon.ts';
import { isOver } from '../ledger/record.ts';
import type { SpooledEvent } from './spool.ts';
import { TerminalText } from './terminalOutput.ts';

export interface LogTextOptions {
  /** For a terminal: phases are dim, and the program's colours and carriage returns are kept. Otherwise plain text with the last state of progress bars. */
  readonly colour: boolean;
  /** Shown as `started on <machine>`. */
  readonly machine?: string;
  /** When the job started, ISO 8601, if the log is read from a later place. */
  readonly startedAt?: string;
  /** Whether lines with data for the job's page stay, because the text is for a file or a program. */
  readonly keepsData?: boolean;
}

const NOTHING = printable``;
const DIM = printable`\u001b[2m`;
const END = printable`\n`;
const DIM_END = printable`\u001b[0m\n`;

/**
 * Whether an event is shown in a log. Others, such as usage events, arrive at any time, so they must not end a line that the job is still
 * rewriting.
 */
export function isInLog({ event, data, own }: SpooledEvent): boolean {
  return own === true || event === 'state' || event === 'end' || logTextOf(event, data) !== undefined;
}

/**
 * Converts events into text to append to a terminal or an output channel; one instance per reading of a log. Lines with data
 * for the job's page, and those in which a flow reports its run on services without `flow` events, are left out.
 */
export class LogText {
  readonly #options: LogTextOptions;
  readonly #output: TerminalText;
  readonly #readable: ReadableOutput;
  #startedAt: string | undefined;
  #endedAt: string | undefined;
  #endReason: string | undefined;

  constructor(options: LogTextOptions) {
    this.#options = options;
    this.#output = new TerminalText(options.colour);
    this.#readable = new ReadableOutput(options);
    this.#startedAt = options.startedAt;
  }

  /**
   * The text for an event, which may be empty. Escape sequences other than colours are removed.
   *
   * @param results for the `end` event: what the results are and how to download them.
   */
  push(event: SpooledEvent, results?: string): Printable {
    if (event.own === true && event.event !== 'end') return this.#line(noteOf(event.data));
    if (event.event === 'end')
      return joinPrintable([this.#output.push(this.#readable.end()), this.#line(this.#outcome(event, results))]);
    const text = logTextOf(event.event, event.data);
    if (text !== undefined) return this.#output.push(this.#readable.push(event.data, text));
    if (event.event === 'state') return this.#phase(event);
    return NOTHING;
  }

  /** The current text of a progress bar, which is not part of the text yet; empty if there is none. */
  get moving(): Printable {
    return this.#output.rewritten;
  }

  /** Whether nothing is buffered and the text so far ends a line, so that another instance can continue from here. */
  get isLineStart(): boolean {
    return this.#output.isLineStart && !this.#readable.isHolding;
  }

  /** When the job started, ISO 8601, as far as the log says. */
  get startedAt(): string | undefined {
    return this.#startedAt;
  }

  /** Returns buffered text: the last state of a progress bar. Call it after a pause without events, and at the end. */
  flush(): Printable {
    return this.#output.flush();
  }

  #phase({ data, at }: SpooledEvent): Printable {
    const state = stateOf(data);
    if (state === undefined) return NOTHING;
    const reason = textField(data, 'reason');
    // The outcome is one line at the end; the service reports its reason with this state event.
    if (isOver({ state, finishedAt: null, exitCode: null })) {
      this.#endReason = reason;
      this.#endedAt = textField(data, 'at');
      return NOTHING;
    }
    const suffix = reason === undefined ? '' : ` (${reason})`;
    if (state !== 'running') return this.#line(`${stateWord(state)}${suffix}`);
    this.#startedAt ??= textField(data, 'at') ?? at;
    const { machine } = this.#options;
    return this.#line(`${machine === undefined ? l10n.t('started') : l10n.t('started on {0}', machine)}${suffix}`);
  }

  #outcome({ data, at }: SpooledEvent, results: string | undefined): string {
    const state = endWord(stateOf(data));
    const exit = numberField(data, 'exit_code');
    const credits = numberField(data, 'credits_charged');
    const cpus = numberField(data, 'unpriced_cpus');
    const seconds = (Date.parse(this.#endedAt ?? at) - Date.parse(this.#startedAt ?? '')) / 1000;
    const end = exit === undefined || exit === 0 ? state : l10n.t('{0} with exit {1}', state, exit);
    const machine = cpus === undefined ? undefined : { cpus, gpus: numberField(data, 'unpriced_gpus') ?? 0 };
    const cost =
      machine !== undefined
        ? describeHours(hoursOf(machine, Number.isFinite(seconds) ? seconds : 0))
        : credits === undefined
          ? undefined
          : l10n.t('{0} credits', formatCredits(credits));
    return [
      Number.isFinite(seconds) ? l10n.t('{0} after {1}', end, formatDuration(Math.max(0, seconds))) : end,
      textField(data, 'reason') ?? this.#endReason,
      cost,
      results,
    ]
      .filter((part) => part !== undefined && part !== '')
      .join(' · ');
  }

  #line(text: string): Printable {
    const clean = printableLine(text);
    if (clean.length === 0) return NOTHING;
    const start = this.#output.endLine();
    return joinPrintable(this.#options.colour ? [start, DIM, clean, DIM_END] : [start, clean, END]);
  }
}

function endWord(state: string | undefined): string {
  if (state === 'timed_out') return l10n.t('stopped at its time limit');
  return state === undefined ? l10n.t('ended') : stateWord(state);
}
