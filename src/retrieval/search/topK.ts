export interface Scored<T> {
  readonly item: T;
  readonly score: number;
  readonly order: number;
}

/** Keeps the best `limit` of the offered items, in a heap whose root is the worst of them. */
export class TopK<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  readonly #heap: Scored<T>[] = [];
  #offered = 0;
  /** The lowest score that is accepted; a field, because searches read it for every candidate. */
  threshold = -Infinity;

  /** @param compare the order of items with equal scores: negative if `a` comes first. By default the item that was offered first. */
  constructor(limit: number, compare: (a: T, b: T) => number = () => 0) {
    this.#limit = limit;
    this.#compare = compare;
  }

  offer(item: T, score: number): void {
    const entry = { item, score, order: this.#offered++ };
    if (this.#heap.length < this.#limit) {
      this.#heap.push(entry);
      this.#rise(this.#heap.length - 1);
      if (this.#heap.length === this.#limit) this.threshold = this.#heap[0]?.score ?? -Infinity;
      return;
    }
    const worst = this.#heap[0];
    if (worst === undefined || this.#rank(entry, worst) > 0) return;
    this.#heap[0] = entry;
    this.#sink();
    this.threshold = this.#heap[0].score;
  }

  /** Best first. */
  sorted(): readonly Scored<T>[] {
    return [...this.#heap].sort((a, b) => this.#rank(a, b));
  }

  #rank(a: Scored<T>, b: Scored<T>): number {
    return b.score - a.score || this.#compare(a.item, b.item) || a.order - b.order;
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
      const child = right !== undefined && this.#rank(left, right) < 0 ? 2 * at + 2 : 2 * at + 1;
      if (!this.#swapIfWorse(child, at)) return;
      at = child;
    }
  }

  #swapIfWorse(child: number, parent: number): boolean {
    const [lower, upper] = [this.#heap[child], this.#heap[parent]];
    if (lower === undefined || upper === undefined || this.#rank(lower, upper) < 0) return false;
    this.#heap[child] = upper;
    this.#heap[parent] = lower;
    return true;
  }
}
