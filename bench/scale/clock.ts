/** Simulated time in milliseconds, and what happens in it: first what is due first, and of the same instant what was asked for first. */
export class Clock {
  readonly #due: number[] = [];
  readonly #order: number[] = [];
  readonly #calls: (() => void)[] = [];
  #now: number;
  #asked = 0;
  #isStopped = false;

  constructor(start = 0) {
    this.#now = start;
  }

  get now(): number {
    return this.#now;
  }

  /** Calls back at a time, or at once where that has passed. */
  at(time: number, call: () => void): void {
    let index = this.#due.length;
    const due = Math.max(time, this.#now);
    const order = (this.#asked += 1);
    // A binary heap: each is due no earlier than the one at half its index.
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(due, order, parent)) break;
      this.#move(parent, index);
      index = parent;
    }
    this.#put(index, due, order, call);
  }

  after(delay: number, call: () => void): void {
    this.at(this.#now + delay, call);
  }

  /** Lets time pass until `end`, until nothing is due any more, or until it is stopped. */
  run(end = Number.POSITIVE_INFINITY): void {
    for (let due = this.#due[0]; due !== undefined && due <= end; due = this.#due[0]) {
      this.#now = due;
      this.#takeFirst()();
      if (this.#isStopped) return;
    }
    if (Number.isFinite(end)) this.#now = end;
  }

  /** Ends time after what happens now. */
  stop(): void {
    this.#isStopped = true;
  }

  #takeFirst(): () => void {
    const first = this.#calls[0] as () => void;
    const due = this.#due.pop() as number;
    const order = this.#order.pop() as number;
    const call = this.#calls.pop() as () => void;
    const count = this.#due.length;
    if (count === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= count) break;
      if (child + 1 < count && this.#isBefore(this.#due[child + 1] as number, this.#order[child + 1] as number, child))
        child += 1;
      if (!this.#isBefore(this.#due[child] as number, this.#order[child] as number, -1, due, order)) break;
      this.#move(child, index);
      index = child;
    }
    this.#put(index, due, order, call);
    return first;
  }

  /** Whether something is due before what is at an index, or before another time. */
  #isBefore(
    due: number,
    order: number,
    index: number,
    otherDue = this.#due[index] as number,
    otherOrder = this.#order[index] as number,
  ): boolean {
    return due < otherDue || (due === otherDue && order < otherOrder);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#due[from] as number, this.#order[from] as number, this.#calls[from] as () => void);
  }

  #put(index: number, due: number, order: number, call: () => void): void {
    this.#due[index] = due;
    this.#order[index] = order;
    this.#calls[index] = call;
  }
}
