import { endEventData } from '../../remote/protocol/schemas.ts';
import type { SpooledEvent } from './spool.ts';

/**
 * Finds out from a job's events whether it has results. A service with the `end` event of the embedded service sends an `artifact`
 * event for each result first. For other services, missing `artifact` events mean nothing.
 */
export class ResultEvents {
  #results = 0;
  #isComplete = false;

  push({ event, data, own }: SpooledEvent): void {
    if (own === true) return;
    if (event === 'artifact') this.#results += 1;
    if (event === 'end') this.#isComplete = endEventData.safeParse(data).success;
  }

  /** Undefined if the events do not say. */
  get hasResults(): boolean | undefined {
    if (this.#results > 0) return true;
    return this.#isComplete ? false : undefined;
  }
}
