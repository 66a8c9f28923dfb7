import { parseEvents } from './parseEvents.ts';
import type { HttpResponse } from '../http/exchange.ts';
import type { JobEvent } from './jobEvent.ts';

/** Events of one job. Leaving the loop, or disposing the stream, closes the response. */
export interface JobEventStream extends AsyncIterable<JobEvent>, AsyncDisposable {}

/** A stream that sends its request when the first event is read. It can be read once. */
export function streamEvents(open: (signal: AbortSignal) => Promise<HttpResponse>): JobEventStream {
  return disposableStream(async function* (signal) {
    using response = await open(signal);
    yield* parseEvents(response.body);
  });
}

/** A stream of the events of a generator, whose signal aborts when the stream is disposed. */
export function disposableStream(events: (left: AbortSignal) => AsyncIterable<JobEvent>): JobEventStream {
  const left = new AbortController();
  async function* read(): AsyncGenerator<JobEvent, void> {
    try {
      yield* events(left.signal);
    } catch (error) {
      if (!left.signal.aborted) throw error; // a stream that was disposed ends without an error
    }
  }
  const reading = read();
  return {
    [Symbol.asyncIterator]: () => reading,
    async [Symbol.asyncDispose]() {
      left.abort(); // first, because `return` would wait for the pending event
      await reading.return();
    },
  };
}
