/** Runs work one after the other, in the order of the calls. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs work once all earlier work has settled. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {}); // the caller gets the error
    return result;
  }
}
