/** A request whose response did not arrive in time. */
export class ResponseTimeoutError extends Error {
  override readonly name = 'ResponseTimeoutError';
  readonly seconds: number;

  constructor(seconds: number) {
    super(`no response within ${seconds} s`);
    this.seconds = seconds;
  }
}

/** Aborts a request that is silent for too long. The `openai` package limits only the time until the headers of a response. */
export class ResponseTimeout {
  /** Aborted at the timeout, and with the signal of the caller. */
  readonly signal: AbortSignal;
  readonly #ms: number;
  readonly #late = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** @param ms in milliseconds, at most 2^31 - 1. */
  constructor(ms: number, signal: AbortSignal | undefined) {
    this.#ms = ms;
    this.signal = signal === undefined ? this.#late.signal : AbortSignal.any([signal, this.#late.signal]);
  }

  /** Limits the whole of the work, which ends with the signal. @throws ResponseTimeoutError at the timeout. */
  async limit<T>(work: () => Promise<T>): Promise<T> {
    this.#start();
    try {
      return await work();
    } catch (error) {
      this.#throwIfLate();
      throw error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** Limits the wait for each item, but not what is done with it. @throws ResponseTimeoutError at the timeout. */
  async *limitEach<T>(items: AsyncIterable<T>): AsyncGenerator<T, void> {
    this.#start();
    try {
      for await (const item of items) {
        clearTimeout(this.#timer);
        yield item;
        this.#start();
      }
      this.#throwIfLate(); // an aborted stream can end as if it were complete
    } catch (error) {
      this.#throwIfLate();
      throw error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  #start(): void {
    this.#timer = setTimeout(() => this.#late.abort(), this.#ms);
  }

  #throwIfLate(): void {
    if (this.#late.signal.aborted) throw new ResponseTimeoutError(this.#ms / 1000);
  }
}
