// Reasoning models think for minutes before the first byte.
export const DEFAULT_TIMEOUT_SECONDS = 600;

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
  readonly #ms: number;
  readonly #outer: AbortSignal | undefined;
  readonly #own = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isLate = false;

  /**
   * @param ms in milliseconds, at most 2^31 - 1.
   * @param signal of the caller, which ends the request too.
   */
  constructor(ms: number, signal: AbortSignal | undefined) {
    this.#ms = ms;
    this.#outer = signal;
  }

  /** For the request. Aborted at the timeout and with the signal of the caller, while something is limited. */
  get signal(): AbortSignal {
    return this.#own.signal;
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
      this.#stop();
    }
  }

  /** Limits the wait for each item, but not what is done with it. @throws ResponseTimeoutError at the timeout. */
  async *limitEach<T>(items: AsyncIterable<T>): AsyncGenerator<T, void> {
    this.#start();
    try {
      for await (const item of items) {
        clearTimeout(this.#timer);
        yield item;
        this.#startTimer();
      }
      this.#throwIfLate(); // an aborted stream can end as if it were complete
    } catch (error) {
      this.#throwIfLate();
      throw error;
    } finally {
      this.#stop();
    }
  }

  readonly #forward = (): void => this.#own.abort(this.#outer?.reason);

  // Not `AbortSignal.any`: a signal that outlives many requests would remember each of them.
  #start(): void {
    if (this.#outer?.aborted === true) this.#forward();
    else this.#outer?.addEventListener('abort', this.#forward, { once: true });
    this.#startTimer();
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#own.abort();
    }, this.#ms);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#forward);
  }

  #throwIfLate(): void {
    if (this.#isLate) throw new ResponseTimeoutError(this.#ms / 1000);
  }
}
