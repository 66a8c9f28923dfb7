import { endEventData } from '../../remote/protocol/schemas.ts';
import type { SpooledEvent } from './spool.ts';

/**
 * Learns from the events of a job whether it left results. A service whose `end` event is that of the embedded service sends an
 * `artifact` event for each result before it; of any other service the absence of such events says nothing.
 */
export class ResultEvents {
  #results = 0;
  #isComplete = false;

  push({ event, data, own }: SpooledEvent): void {
    if (own === true) return;
    if (event === 'artifact') this.#results += 1;
    if (event === 'end') this.#isComplete = endEventData.safeParse(data).success;
  }

  /** Undefined where the events do not tell. */
  get hasResults(): boolean | undefined {
    if (this.#results > 0) return true;
    return this.#isComplete ? false : undefined;
  }
}
