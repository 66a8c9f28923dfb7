import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { effective, isStale, LastLine, patchFromEvent } from './jobPatch.ts';
import { type JobPatch, jobPause, type JobRecord } from '../ledger/record.ts';
import type { EventSpool, NewEvent } from './spool.ts';
import { fieldOf, textField } from '../../core/jsonFields.ts';
import { MarkedLineReader } from '../../core/text/markedLines.ts';

// Otherwise a busy log would write to the ledger, and wake every window, a thousand times per second.
const LAST_LINE_EVERY_MS = 1_000;
const MAX_PENDING = 1_000;

// Limited, because it is stored in the job's record, which every window reads.
const MAX_CHARACTERS = 20_000;

/** Writes the events of a stream to the spool, in batches that grow while the disk is busy, and to the ledger. */
export class Recorder {
  record: JobRecord;
  readonly #deps: { ledger: AsyncLedger; spool: EventSpool; onUpdate(record: JobRecord): void };
  readonly #lastLine = new LastLine();
  readonly #pauses = new FlowPauses();
  #lastLineAt = 0;
  /** Stores the last line as soon as the interval allows it, because the job may print nothing for hours. */
  #lastLineTimer: NodeJS.Timeout | undefined;
  #pending: NewEvent[] = [];
  #writing: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  constructor(record: JobRecord, deps: { ledger: AsyncLedger; spool: EventSpool; onUpdate(record: JobRecord): void }) {
    this.record = record;
    this.#deps = deps;
  }

  /** Adds an event. Waits only if the disk is far behind. @throws the error of the last write. */
  async push(event: NewEvent): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#pending.push(event);
    this.#writing ??= this.#drain();
    if (this.#pending.length >= MAX_PENDING) await this.#writing;
  }

  /** Adds a line from Farwharf to the log. */
  note(event: 'gap', text: string): Promise<void> {
    return this.push({ event, data: { text }, own: true });
  }

  /** Waits until all events are on disk. @throws the error of a failed write. */
  async flush(): Promise<void> {
    await this.#writing;
    clearTimeout(this.#lastLineTimer);
    this.#lastLineTimer = undefined;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    await this.apply({ lastLogLine: this.#lastLine.text ?? this.record.lastLogLine });
  }

  async apply(patch: JobPatch): Promise<void> {
    const change = effective(patch, this.record);
    if (change === undefined) return;
    this.record = await this.#deps.ledger.update(this.record.id, change);
    this.#deps.onUpdate(this.record);
  }

  async #drain(): Promise<void> {
    try {
      do await this.#write(this.#pending.splice(0));
      while (this.#pending.length > 0);
    } catch (error) {
      this.#failure = { error: diskError(error, this.#deps.spool.path) };
    } finally {
      this.#writing = undefined;
    }
  }

  async #write(events: readonly NewEvent[]): Promise<void> {
    await this.#deps.spool.append(events);
    const at = new Date().toISOString();
    for (const { event, data, own } of events) {
      if (own === true) continue;
      const text = logTextOf(event, data);
      if (text !== undefined) this.#lastLine.push(data, text);
      const waiting = this.#pauses.push(event, data);
      if (waiting !== undefined) await this.apply({ waiting });
      const patch = patchFromEvent(event, data, at, this.record);
      if (!isStale(patch, this.record)) await this.apply(patch);
    }
    await this.#storeLastLine();
  }

  async #storeLastLine(): Promise<void> {
    const lastLogLine = this.#lastLine.text ?? this.record.lastLogLine;
    if (lastLogLine === this.record.lastLogLine) return;
    const waitMs = this.#lastLineAt + LAST_LINE_EVERY_MS - Date.now();
    if (waitMs <= 0) {
      this.#lastLineAt = Date.now();
      return this.apply({ lastLogLine });
    }
    this.#lastLineTimer ??= setTimeout(() => {
      this.#lastLineTimer = undefined;
      this.#writing ??= this.#drain();
    }, waitMs);
  }
}

/** Finds what the flow of a job waits for among the job's events: `flow` events, or marked lines in the log of other services. */
export class FlowPauses {
  readonly #lines = new MarkedLineReader();

  /** The pause with which a run of the flow ended, null if it ended without one; undefined for other events. */
  push(event: string, data: unknown): JobRecord['waiting'] | undefined {
    if (event === 'flow') return pauseOf(data);
    const text = logTextOf(event, data);
    if (text === undefined || textField(data, 'stream') === 'stderr') return undefined;
    const values = this.#lines.push(text).flatMap((piece) => (piece.type === 'value' ? [piece.value] : []));
    return values.map(pauseOf).findLast((pause) => pause !== undefined);
  }
}

function pauseOf(event: unknown): JobRecord['waiting'] | undefined {
  if (fieldOf(event, 'type') !== 'run-end') return undefined;
  const pause = jobPause.safeParse(fieldOf(event, 'pause')).data;
  return pause === undefined || JSON.stringify(pause).length > MAX_CHARACTERS ? null : pause;
}
