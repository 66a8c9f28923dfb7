import { EventDecoder } from './eventDecoder.ts';
import type { JobEvent } from '../protocol/schemas.ts';

type Result = IteratorResult<JobEvent, undefined>;

const BATCH = 256;
const DONE: Result = { done: true, value: undefined };

/**
 * Reads server-sent events by the rules of the specification's section 6. The source is read as the events are, and
 * closed when the loop over them is left. It can be read once.
 *
 * @throws an AppError `limit` for a line over 8 MB or an event over 16 MB, and whatever the source throws.
 */
export function parseEvents(source: AsyncIterable<Uint8Array>): AsyncIterable<JobEvent> {
  return { [Symbol.asyncIterator]: () => new EventReader(source[Symbol.asyncIterator]()) };
}

/**
 * By hand and not as an async generator, whose `yield` costs as much as all other work on a usual event. Events are
 * decoded some hundred at a time, which is faster than one for each call of `next`.
 */
class EventReader implements AsyncIterator<JobEvent, undefined> {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new EventDecoder();
  #events: JobEvent[] = [];
  #position = 0;
  /** The source has nothing more to give. */
  #isDone = false;
  /** The loop was left, or something failed: what was decoded already is not handed out any more. */
  #isClosed = false;
  /** Set while a chunk is awaited; calls of `next` that come meanwhile line up behind it. */
  #waiting: Promise<Result> | undefined;

  constructor(chunks: AsyncIterator<Uint8Array>) {
    this.#chunks = chunks;
  }

  next(): Promise<Result> {
    const value = this.#events[this.#position];
    if (value !== undefined && this.#waiting === undefined) {
      this.#position += 1;
      return Promise.resolve({ done: false, value });
    }
    const waiting: Promise<Result> = this.#read(this.#waiting).finally(() => {
      if (this.#waiting === waiting) this.#waiting = undefined;
    });
    this.#waiting = waiting;
    return waiting;
  }

  async return(): Promise<Result> {
    await this.#close();
    return DONE;
  }

  async #read(previous: Promise<unknown> | undefined): Promise<Result> {
    await previous?.catch(() => {}); // it rejects for its own caller; this one finds the source ended
    try {
      while (!this.#isClosed) {
        const value = this.#events[this.#position++] ?? this.#decode();
        if (value !== undefined) return { done: false, value };
        if (this.#isDone) break;
        const chunk = await this.#chunks.next();
        if (this.#isClosed) break;
        if (chunk.done === true) {
          this.#isDone = true;
          this.#decoder.finish();
        } else {
          this.#decoder.push(chunk.value);
        }
      }
      return DONE;
    } catch (error) {
      await this.#close().catch(() => {}); // the first failure is the one to report
      throw error;
    }
  }

  #decode(): JobEvent | undefined {
    this.#events = this.#decoder.take(BATCH);
    this.#position = 1;
    return this.#events[0];
  }

  async #close(): Promise<void> {
    this.#events = [];
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isDone) await this.#chunks.return?.();
  }
}
