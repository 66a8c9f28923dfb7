import { randomFillSync } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { FREE_FROM, SEED, STEP_BYTES } from '../kernel/assembly/layout/memory.ts';
import { writeByteKinds } from '../kernel/byteKinds.ts';
import { PAGE_BYTES, startKernel, type WasmMemory } from '../kernel/kernelInstance.ts';
import { writeRules } from '../kernel/stemRules.ts';
import type { TokenizerFunctions } from '../kernel/tokenizerFunctions.ts';

// Each growth makes new views.
const LEAST_GROWTH = 16 * PAGE_BYTES;
// Addresses above this are negative numbers where the kernel returns them.
const MOST_PAGES = 2 ** 31 / PAGE_BYTES - 1;
const ALIGNMENT = 16;

interface Place {
  address: number;
  length: number;
}

/** Memory that grows, and the kernel that finds and counts words in it. */
export class KernelMemory {
  /** All of it; others after each growth. */
  bytes: Buffer;
  numbers: Uint32Array;
  halves: Uint16Array;
  readonly kernel: TokenizerFunctions;
  readonly #memory: WasmMemory;
  #used = FREE_FROM;
  /** What buffers have left, in the order of the addresses; without it a thread needs half as much memory again. */
  #left: Place[] = [];

  constructor() {
    const limits = { initial: LEAST_GROWTH / PAGE_BYTES, maximum: MOST_PAGES };
    const { memory, functions } = startKernel<TokenizerFunctions>('tokenizer', limits);
    const { buffer } = memory;
    this.#memory = memory;
    this.kernel = functions;
    this.bytes = Buffer.from(buffer);
    this.numbers = new Uint32Array(buffer);
    this.halves = new Uint16Array(buffer);
    // Another one in each thread, so that nobody can write a file whose words all go into one slot.
    randomFillSync(this.bytes, SEED, 8);
    writeByteKinds(buffer);
    writeRules(buffer);
  }

  /**
   * The address of so many bytes more, which are zeros. Behind the last of them the kernel can read as much as it reads together.
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
