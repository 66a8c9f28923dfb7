import type { RunEvent } from '../protocol/runEvent.ts';
import type { ChildMessage } from '../protocol/runMessage.ts';

const MAX_BATCH = 500;
// Enough for a view to stay up to date. If events arrive faster than they are handled, the flow waits.
const MAX_UNTAKEN_BATCHES = 20;

/** Sends events to the parent in batches, and makes the run wait while too many are unhandled. */
export class EventChannel {
  readonly #send: (message: ChildMessage) => void;
  #events: RunEvent[] = [];
  #isScheduled = false;
  #sent = 0;
  #taken = 0;
  #waiting: (() => void)[] = [];
  readonly #onWaiting: (isWaiting: boolean) => void;

  /** @param onWaiting called when a run starts to wait, when nothing else may keep the process alive, and when it continues. */
  constructor(send: (message: ChildMessage) => void, onWaiting: (isWaiting: boolean) => void) {
    this.#send = send;
    this.#onWaiting = onWaiting;
  }

  push(event: RunEvent): void {
    this.#events.push(event);
    if (this.#events.length >= MAX_BATCH) this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  flush(): void {
    if (this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    this.#sent += 1;
    this.#send({ type: 'events', batch: this.#sent, events });
  }

  /** Returns a promise while the run should wait. */
  get pause(): Promise<void> | undefined {
    if (this.#sent - this.#taken < MAX_UNTAKEN_BATCHES) return undefined;
    if (this.#waiting.length === 0) this.#onWaiting(true);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  taken(batch: number): void {
    this.#taken = batch;
    this.#release();
  }

  /** The parent is gone, so nothing waits for it. */
  close(): void {
    this.#taken = Number.POSITIVE_INFINITY;
    this.#release();
  }

  #release(): void {
    if (this.#sent - this.#taken >= MAX_UNTAKEN_BATCHES) return;
    if (this.#waiting.length > 0) this.#onWaiting(false);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
