import type { JobEvent } from './schemas.ts';

/**
 * Reads server-sent events by the rules of the specification's section 6.
 */
export function parseEvents(_source: AsyncIterable<Uint8Array>): AsyncIterable<JobEvent> {
  throw new Error('not written yet');
}
