import type { ToolEvent, ToolRun } from './toolLoop.ts';

/** The events of a tool loop as they come, for one reader. Leaving the iteration ends the request and the tools. */
export interface ToolStream extends AsyncIterable<ToolEvent> {
  /** What `runTools` would return. Rejects as it does, and with an AbortError if the iteration was left. */
  readonly result: Promise<ToolRun>;
}

/**
 * Begins a loop and collects its events until they are read. An error comes after all events before it.
 *
 * @param begin gets a signal that is aborted when the reader leaves.
 */
export function toolStream(
  begin: (onEvent: (event: ToolEvent) => void, signal: AbortSignal) => Promise<ToolRun>,
): ToolStream {
  const controller = new AbortController();
  let isEnded = false;
  let unread: ToolEvent[] = [];
  let changed = Promise.withResolvers<void>();
  const onEvent = (event: ToolEvent): void => {
    unread.push(event);
    changed.resolve();
  };
  const result = begin(onEvent, controller.signal).finally(() => {
    isEnded = true;
    changed.resolve();
  });
  result.catch(() => {}); // for readers of the events, which end with the same error
  const events = (async function* (): AsyncGenerator<ToolEvent, void> {
    for (;;) {
      const batch = unread;
      unread = [];
      yield* batch;
      if (batch.length > 0) continue;
      if (isEnded) break;
      await changed.promise;
      changed = Promise.withResolvers();
    }
    await result;
  })();
  return {
    result,
    [Symbol.asyncIterator]: () => ({
      next: () => events.next(),
      // Not a finally block in the generator, which would not run if it is left before its first step.
      async return() {
        controller.abort();
        await result.catch(() => {});
        return events.return();
      },
    }),
  };
}
