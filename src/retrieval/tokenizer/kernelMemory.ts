import { AppError } from '../../core/errors.ts';
import { WORD_PROGRAM, writeConstants } from '../kernel/tokenizerKernel.ts';
import { FREE_FROM, STEP_BYTES } from '../kernel/kernelLayout.ts';

const PAGE_BYTES = 65_536;
// Each growth makes new views.
const LEAST_GROWTH = 16 * PAGE_BYTES;
// Addresses above this are negative numbers where the program gives them.
const MOST_PAGES = 2 ** 31 / PAGE_BYTES - 1;
const ALIGNMENT = 16;

/** The functions of the program, as `tokenizerKernel.ts` defines them. */
interface WordFunctions {
  borders(text: number, end: number, borders: number): number;
  find(
    borders: number,
    bordersEnd: number,
    found: number,
    records: number,
    end: number,
    slots: number,
    mask: number,
    size: number,
  ): number;
  index(records: number, record: number, end: number, slots: number, mask: number): void;
  split(record: number, recordsEnd: number, text: number, borders: number): number;
  stem(borders: number, bordersEnd: number): void;
  list(record: number, recordsEnd: number, found: number, terms: number, lists: number, end: number): number;
  count(found: number, end: number, records: number, weight: number, counted: number): number;
  gather(counted: number, end: number, records: number, lists: number, counts: number, present: number): number;
  note(present: number, end: number, counts: number, holders: number, terms: number, frequencies: number): void;
  scatter(
    terms: number,
    frequencies: number,
    sizes: number,
    end: number,
    document: number,
    next: number,
    documents: number,
    counts: number,
  ): void;
  postings(documents: number, frequencies: number, count: number, levels: number, blocks: number, to: number): number;
  levels(documents: number, frequencies: number, count: number, lengths: number, to: number): number;
  order(record: number, recordsEnd: number, entries: number, spare: number): number;
  dictionary(last: number, lastSize: number, term: number, size: number, length: number, to: number): number;
}

// The part of https://webassembly.github.io/spec/js-api/ that is used; the compiler knows it with the browser's types only.
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WebAssemblyApi {
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: WordFunctions };
}

interface Place {
  address: number;
  length: number;
}

/** Memory that grows, and the program that finds and counts words in it. */
export class KernelMemory {
  /** All of it; others after each growth. */
  bytes: Buffer;
  numbers: Uint32Array;
  halves: Uint16Array;
  readonly program: WordFunctions;
  readonly #memory: WasmMemory;
  #used = FREE_FROM;
  /** What rooms have left, in the order of the addresses; without it a thread needs half as much memory again. */
  #left: Place[] = [];

  constructor() {
    const api = Reflect.get(globalThis, 'WebAssembly') as WebAssemblyApi;
    this.#memory = new api.Memory({ initial: LEAST_GROWTH / PAGE_BYTES, maximum: MOST_PAGES });
    const { buffer } = this.#memory;
    this.program = new api.Instance(new api.Module(WORD_PROGRAM), { env: { memory: this.#memory } }).exports;
    this.bytes = Buffer.from(buffer);
    this.numbers = new Uint32Array(buffer);
    this.halves = new Uint16Array(buffer);
    writeConstants(buffer);
  }

  /**
   * The address of so many bytes more, which are zeros. Behind the last of them the program can read as much as it looks at together.
   *
   * @throws AppError `limit` where there is no room.
   */
  take(size: number): number {
    const length = aligned(size);
    const place = this.#left.filter((left) => left.length >= length).sort((a, b) => a.length - b.length)[0];
    if (place === undefined) return this.#takeBehind(length);
    const { address } = place;
    place.address += length;
    place.length -= length;
    this.bytes.fill(0, address, address + length);
    return address;
  }

  /** Takes a place back that nobody uses any more, for others. */
  leave(address: number, size: number): void {
    if (size > 0) this.#left.push({ address, length: aligned(size) });
    this.#left.sort((a, b) => a.address - b.address);
    const joined: Place[] = [];
    for (const place of this.#left) {
      const last = joined.at(-1);
      if (last !== undefined && last.address + last.length === place.address) last.length += place.length;
      else if (place.length > 0) joined.push(place);
    }
    this.#left = joined;
  }

  #takeBehind(length: number): number {
    const address = this.#used;
    const end = address + length;
    const missing = end + STEP_BYTES - this.bytes.length;
    if (missing > 0) this.#grow(missing);
    this.#used = end;
    return address;
  }

  #grow(missing: number): void {
    try {
      this.#memory.grow(Math.ceil(Math.max(missing, LEAST_GROWTH) / PAGE_BYTES));
    } catch (cause) {
      throw new AppError('limit', 'There is no memory for so many words at once. Add the texts in smaller parts.', {
        cause,
      });
    }
    const { buffer } = this.#memory;
    this.bytes = Buffer.from(buffer);
    this.numbers = new Uint32Array(buffer);
    this.halves = new Uint16Array(buffer);
  }
}

/** A place in the memory that moves when it needs more room. */
export class GrowableBuffer {
  address = 0;
  size = 0;
  readonly #memory: KernelMemory;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  /** Sees to it that there are so many bytes; of what is there the first `used` are kept, what is new are zeros. */
  hold(size: number, used = this.size): void {
    if (size <= this.size) return;
    // What is not kept costs no copying.
    const larger = Math.max(size, used === 0 ? (5 * this.size) / 4 : 2 * this.size);
    const address = this.#memory.take(larger);
    this.#memory.bytes.copyWithin(address, this.address, this.address + used);
    this.#memory.leave(this.address, this.size);
    [this.address, this.size] = [address, larger];
  }

  /** Makes zeros of the first bytes, as far as they are there. */
  clear(size = this.size): void {
    this.#memory.bytes.fill(0, this.address, this.address + Math.min(size, this.size));
  }
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}
