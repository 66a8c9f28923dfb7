import type { EventSpool, SpooledEvent } from './spool.ts';
import { ViewText } from './viewText.ts';

// As much as an editor opens, colours and links at once.
const PART_LINES = 20_000;
const PART_CHARACTERS = 2_000_000;
// Output without line ends is cut inside its line.
const MAX_OVERRUN = 2;

/** A part of a log that is read on its own. */
export interface LogPart {
  /** The position in the spool before it. */
  readonly after: number;
  /** The number of its first line in the whole log, 1-based. */
  readonly firstLine: number;
  /** When the job started, if that was before this part. */
  readonly startedAt: string | undefined;
}

export interface LogPartsOptions {
  /** Shown as `started on <machine>`. */
  readonly machine?: string;
  readonly partLines?: number;
}

/**
 * The log of a job in parts of at most about 20,000 lines or 2 MB, which are read from the spool one at a time, so that memory does not
 * depend on the length of the log. Knows only where the parts begin.
 */
export class LogParts {
  readonly #spool: Pick<EventSpool, 'read'>;
  readonly #options: LogPartsOptions;
  readonly #parts: LogPart[] = [{ after: 0, firstLine: 1, startedAt: undefined }];

  constructor(spool: Pick<EventSpool, 'read'>, options: LogPartsOptions = {}) {
    this.#spool = spool;
    this.#options = options;
  }

  /** The parts as of the last update; at least one. */
  get all(): readonly LogPart[] {
    return this.#parts;
  }

  /** Finds the parts of what the spool has now. Reads only from the last known part. @throws the signal's reason on abort. */
  async update(signal: AbortSignal): Promise<void> {
    const { partLines = PART_LINES } = this.#options;
    let text = this.#textOf(this.#parts.at(-1));
    let lines = 0;
    let characters = 0;
    for await (const event of this.#spool.read({ after: this.#parts.at(-1)?.after ?? 0, signal })) {
      const piece = text.push(event);
      lines += lineEnds(piece);
      characters += piece.length;
      const size = Math.max(lines / partLines, characters / PART_CHARACTERS);
      if (event.event !== 'log' || size < (text.isLineStart ? 1 : MAX_OVERRUN)) continue;
      const firstLine = (this.#parts.at(-1)?.firstLine ?? 1) + lines;
      this.#parts.push({ after: event.seq, firstLine, startedAt: text.startedAt });
      text = this.#textOf(this.#parts.at(-1));
      lines = 0;
      characters = 0;
    }
  }

  /** The index of the part with a line of the log, 1-based. */
  partOf(line: number): number {
    return Math.max(
      0,
      this.#parts.findLastIndex(({ firstLine }) => firstLine <= line),
    );
  }

  /** The text of a part; empty if there is no such part. @param observer receives the events of the part. */
  async read(index: number, signal: AbortSignal, observer?: { push(event: SpooledEvent): void }): Promise<string> {
    const part = this.#parts[index];
    if (part === undefined) return '';
    const end = this.#parts[index + 1]?.after ?? Number.POSITIVE_INFINITY;
    const text = this.#textOf(part);
    const pieces: string[] = [];
    for await (const event of this.#spool.read({ after: part.after, signal })) {
      if (event.seq > end) break;
      observer?.push(event);
      pieces.push(text.push(event));
    }
    return pieces.join('') + text.flush();
  }

  #textOf(part: LogPart | undefined): ViewText {
    const { machine } = this.#options;
    const startedAt = part?.startedAt;
    return new ViewText({ ...(machine !== undefined && { machine }), ...(startedAt !== undefined && { startedAt }) });
  }
}

function lineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
