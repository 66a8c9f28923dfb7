import { parseEvents } from './events.ts';
import type { HttpResponse } from '../http/exchange.ts';
import type { JobEvent } from '../protocol/schemas.ts';

/** Events of one job. Leaving the loop, or disposing the stream, closes the response. */
export interface JobEventStream extends AsyncIterable<JobEvent>, AsyncDisposable {}

/** A stream that sends its request when the first event is read. It can be read once. */
export function streamEvents(open: (signal: AbortSignal) => Promise<HttpResponse>): JobEventStream {
  const left = new AbortController();
  async function* read(): AsyncGenerator<JobEvent, void> {
    try {
      using response = await open(left.signal);
      yield* parseEvents(response.body);
    } catch (error) {
      if (!left.signal.aborted) throw error; // a stream that was disposed ends without an error
    }
  }
  const events = read();
  return {
    [Symbol.asyncIterator]: () => events,
    async [Symbol.asyncDispose]() {
      left.abort(); // first, because `return` would wait for the pending event
      await events.return();
    },
  };
}
