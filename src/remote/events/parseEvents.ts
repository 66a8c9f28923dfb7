import { EventDecoder } from './eventDecoder.ts';
import type { JobEvent } from './jobEvent.ts';

type Result = IteratorResult<JobEvent, undefined>;

const BATCH = 256;
const DONE: Result = { done: true, value: undefined };

/**
 * Reads server-sent events by the rules of the specification's section 6. The source is read on demand, and closed when the loop
 * over the events is left. It can be read once.
 *
 * @throws AppError `limit` for a line over 8 MB or an event over 16 MB, and the source's errors.
 */
export function parseEvents(source: AsyncIterable<Uint8Array>): AsyncIterable<JobEvent> {
  return { [Symbol.asyncIterator]: () => new EventReader(source[Symbol.asyncIterator]()) };
}

/**
 * Not an async generator, because one `yield` costs as much as everything else for a typical event. Events are decoded in batches,
 * which is faster than one for each call of `next`.
 */
class EventReader implements AsyncIterator<JobEvent, undefined> {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new EventDecoder();
  #events: JobEvent[] = [];
  #position = 0;
  /** Whether the source has ended. */
  #isDone = false;
  /** Whether the loop was left or reading failed. Events that were already decoded are then dropped. */
  #isClosed = false;
  /** Set while a chunk is awaited. Further calls of `next` wait for it. */
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
    await previous?.catch(() => {}); // its own caller gets the error, and this call finds the source ended
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
      await this.#close().catch(() => {}); // only the first failure is reported
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
