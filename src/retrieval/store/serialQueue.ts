/** Work that is done one after the other, in the order in which it was asked for. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Does work once all before it has ended, however that was. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {}); // told to whoever asked for it
    return result;
  }
}
