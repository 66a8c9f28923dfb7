/** The last lines of an output, as many as fit in a limit. */
export class OutputTail {
  readonly #maxBytes: number;
  #lines: Buffer[] = [];
  #first = 0;
  #bytes = 0;
  #droppedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#lines.length === this.#first;
  }

  /** Bytes of lines that no longer fit. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  push(line: Buffer): void {
    this.#lines.push(line);
    this.#bytes += line.length;
    while (this.#bytes > this.#maxBytes) {
      const length = this.#lines[this.#first]?.length ?? 0;
      this.#first += 1;
      this.#bytes -= length;
      this.#droppedBytes += length;
    }
    // Dropped lines are removed in large steps, because removing one from the front moves all others.
    if (this.#first > this.#lines.length / 2) {
      this.#lines = this.#lines.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The remaining lines, in order. */
  text(): Buffer {
    return Buffer.concat(this.#lines.slice(this.#first));
  }
}
