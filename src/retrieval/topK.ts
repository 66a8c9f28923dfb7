interface Scored<T> {
  readonly item: T;
  readonly score: number;
  readonly order: number;
}

/** Keeps the best `limit` of the items that it is offered, in a heap whose root is the worst of them. */
export class TopK<T> {
  readonly #limit: number;
  readonly #heap: Scored<T>[] = [];
  #offered = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(item: T, score: number): void {
    const entry = { item, score, order: this.#offered++ };
    if (this.#heap.length < this.#limit) {
      this.#heap.push(entry);
      this.#rise(this.#heap.length - 1);
      return;
    }
    const worst = this.#heap[0];
    if (worst === undefined || !isWorse(worst, entry)) return;
    this.#heap[0] = entry;
    this.#sink();
  }

  /** Best first; of equal scores the one that was offered first. */
  sorted(): readonly Scored<T>[] {
    return [...this.#heap].sort((a, b) => b.score - a.score || a.order - b.order);
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfWorse(at, parent)) return;
      at = parent;
    }
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const [left, right] = [this.#heap[2 * at + 1], this.#heap[2 * at + 2]];
      if (left === undefined) return;
      const child = right !== undefined && isWorse(right, left) ? 2 * at + 2 : 2 * at + 1;
      if (!this.#swapIfWorse(child, at)) return;
      at = child;
    }
  }

  #swapIfWorse(child: number, parent: number): boolean {
    const [lower, upper] = [this.#heap[child], this.#heap[parent]];
    if (lower === undefined || upper === undefined || !isWorse(lower, upper)) return false;
    this.#heap[child] = upper;
    this.#heap[parent] = lower;
    return true;
  }
}

function isWorse(a: Scored<unknown>, b: Scored<unknown>): boolean {
  return a.score < b.score || (a.score === b.score && a.order > b.order);
}
