const ENCODER = new TextEncoder();
const FEW_BYTES = 32;

/** A growable byte buffer for variable-length integers (LEB128), doubles and texts. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** An integer from 0 to 2^32 - 1. */
  varint(value: number): void {
    if (this.#length + 5 > this.#bytes.length) this.#grow(5);
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Returns the bytes with space for `count` more after `length`. The caller writes there and confirms with `wrote`. */
  reserve(most: number): Uint8Array {
    if (this.#length + most > this.#bytes.length) this.#grow(most);
    return this.#bytes;
  }

  /** Confirms that the reserved bytes were written up to `end`. */
  wrote(end: number): void {
    this.#length = end;
  }

  double(value: number): void {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.append(bytes);
  }

  /** A text in UTF-8, preceded by its length in bytes. */
  text(text: string): void {
    const bytes = ENCODER.encode(text);
    this.varint(bytes.length);
    this.append(bytes);
  }

  /** Appends the bytes from `from` to before `to`. */
  append(bytes: Uint8Array, from = 0, to = bytes.length): void {
    if (this.#length + to - from > this.#bytes.length) this.#grow(to - from);
    // For a few bytes, a call to copy costs more than the loop.
    if (to - from > FEW_BYTES) {
      this.#bytes.set(bytes.subarray(from, to), this.#length);
      this.#length += to - from;
      return;
    }
    for (let at = from; at < to; at += 1) this.#bytes[this.#length++] = bytes[at] ?? 0;
  }

  clear(): void {
    this.#length = 0;
  }

  /** A view of the written bytes, valid until the next write. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(more: number): void {
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.view());
    this.#bytes = grown;
  }
}

/** Reads what a ByteWriter wrote. Beyond the end it returns zeros, because callers have verified a checksum. */
export class ByteReader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.at++] ?? 0;
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }

  /** Reads bytes into a buffer. */
  read(into: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 1) into[at] = this.#bytes[this.at++] ?? 0;
  }

  double(): number {
    const value = this.#bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  text(): string {
    const length = this.varint();
    this.at += length;
    return this.#bytes.toString('utf8', this.at - length, this.at);
  }
}
