const SLICE_MS = 20;

/**
 * Gives a function to be called between the steps of long work: from time to time it lets other work have its turn, and throws the
 * signal's reason on abort.
 */
export function takeTurns(signal: AbortSignal | undefined): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    since = performance.now();
  };
}
