/** What a client does while a service keeps a request waiting. */
export interface SlowResponseWatch {
  /** Milliseconds from a request to the beginning of its response. */
  readonly afterMs: number;
  /** Called once for each request that waits longer. */
  onSlow(): void;
  /** Called at each response, slow or not. */
  onResponse(): void;
}

/** Returns the response, and reports if the service is slow. @throws what `response` rejects with. */
export async function reportSlow<T>(watch: SlowResponseWatch, response: Promise<T>): Promise<T> {
  const timer = setTimeout(() => watch.onSlow(), watch.afterMs);
  try {
    const received = await response;
    watch.onResponse();
    return received;
  } finally {
    clearTimeout(timer);
  }
}
