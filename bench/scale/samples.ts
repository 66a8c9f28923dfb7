/** Values of which parts are asked for. */
export class Samples {
  readonly #values: number[] = [];
  #isSorted = true;

  add(value: number): void {
    this.#values.push(value);
    this.#isSorted = false;
  }

  get count(): number {
    return this.#values.length;
  }

  get mean(): number {
    return this.#values.reduce((sum, value) => sum + value, 0) / Math.max(1, this.count);
  }

  /** The value that a part of all, from 0 to 1, stays below; 0 where there is none. */
  quantile(part: number): number {
    if (!this.#isSorted) this.#values.sort((a, b) => a - b);
    this.#isSorted = true;
    return this.#values[Math.min(this.count - 1, Math.floor(part * this.count))] ?? 0;
  }
}
