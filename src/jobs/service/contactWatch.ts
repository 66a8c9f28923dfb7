import { setTimeout as sleep } from 'node:timers/promises';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { httpStatus } from '../../core/network/classifyFailure.ts';

interface ContactOptions {
  /** Milliseconds without an event of the job after which the service is asked, and then again. */
  readonly quietMs: number;
  /** Sends a request to the service, with a timeout in seconds. */
  readonly ask: (options: { readonly timeout: number; readonly signal: AbortSignal }) => Promise<unknown>;
  /** Seconds until a response counts as missing. */
  readonly responseSeconds: number;
  /** Called when the service no longer responds, and when it responds again. */
  readonly onContact: (isReachable: boolean) => void;
}

/**
 * Finds out within seconds that the service of a job does not respond, whichever process streams the job: a service that hangs, and a
 * network that drops everything, close no connection, and a stream may be quiet for hours.
 */
export class ContactWatch implements Disposable {
  readonly #options: ContactOptions;
  readonly #end = new AbortController();
  #lastEventAt = performance.now();
  #returned = new AbortController();

  constructor(options: ContactOptions) {
    this.#options = options;
    // Runs until `dispose`.
    this.#watch().catch(() => {});
  }

  /** An event of the job has arrived, which shows that the service works. */
  noteEvent(): void {
    this.#lastEventAt = performance.now();
  }

  /** Aborted when the service responds again after an outage, because connections from before may be dead. */
  get returned(): AbortSignal {
    return this.#returned.signal;
  }

  dispose(): void {
    this.#end.abort();
  }

  async #watch(): Promise<void> {
    const { quietMs, onContact } = this.#options;
    let isLost = false;
    for (;;) {
      await sleep(quietMs, undefined, { signal: this.#end.signal });
      const isReachable = performance.now() - this.#lastEventAt < quietMs || (await this.#responds());
      this.#end.signal.throwIfAborted();
      if (isReachable === !isLost) continue;
      isLost = !isReachable;
      onContact(isReachable);
      if (isLost) continue;
      this.#returned.abort();
      this.#returned = new AbortController();
    }
  }

  /** A refusal is a response too. */
  async #responds(): Promise<boolean> {
    const { ask, responseSeconds } = this.#options;
    try {
      await ask({ timeout: responseSeconds, signal: this.#end.signal });
      return true;
    } catch (error) {
      return httpStatus(error) !== undefined;
    }
  }
}
