import type { TraceEvent } from '../../../agents/records/trace.ts';

type TokenEvent = Extract<TraceEvent, { type: 'token' }>;

// A reply arrives in hundreds of pieces. This is often enough for text to grow visibly.
const JOIN_MS = 100;
const MAX_TEXT = 4_000;

/** Joins the pieces of a streamed reply, so that there is an event for each tenth of a second instead of for each token. */
export class TokenJoiner {
  readonly #emit: (event: TokenEvent) => void;
  #joined: TokenEvent | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (event: TokenEvent) => void) {
    this.#emit = emit;
  }

  push(event: TokenEvent): void {
    const joined = this.#joined;
    if (joined?.path === event.path && joined.visit === event.visit && joined.text.length < MAX_TEXT) {
      this.#joined = { ...joined, text: joined.text + event.text };
      return;
    }
    this.flush();
    this.#joined = event;
    this.#timer = setTimeout(() => this.flush(), JOIN_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    const joined = this.#joined;
    this.#joined = undefined;
    if (joined !== undefined) this.#emit(joined);
  }
}
