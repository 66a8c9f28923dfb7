import { randomFillSync } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import {
  CHANGEABLE,
  DIGIT,
  FREE_FROM,
  KINDS,
  LOWER,
  SEED,
  SEPARATOR,
  STEP_BYTES,
  UPPER,
  VOWEL,
} from '../kernel/assembly/kernelLayout.ts';
import { PAGE_BYTES, startKernel, type WasmMemory } from '../kernel/kernelInstance.ts';
import { writeRules } from '../kernel/stemRules.ts';
import type { TokenizerFunctions } from '../kernel/tokenizerFunctions.ts';

// Each growth creates new views.
const LEAST_GROWTH = 16 * PAGE_BYTES;
// The kernel returns addresses above this as negative numbers.
const MOST_PAGES = 2 ** 31 / PAGE_BYTES - 1;
const ALIGNMENT = 16;
// In a smaller memory, buffers are not shared, because clearing them takes as long as indexing a small file.
const LEAST_SHARED = 256 * PAGE_BYTES;

const PATTERNS: readonly (readonly [RegExp, number])[] = [
  [/[A-Z]/, UPPER],
  [/[a-z]/, LOWER],
  [/[0-9]/, DIGIT],
  [/[_$]/, SEPARATOR],
  [/[aeiou]/, VOWEL],
  [/[cdegilmnrstuy]/, CHANGEABLE],
];

const LAST_ASCII = 127;

interface FreeBlock {
  address: number;
  length: number;
}

/** Growable memory, and the kernel that finds and counts words in it. */
export class KernelMemory {
  /** Views of the whole memory, which are replaced after each growth. */
  bytes: Buffer;
  numbers: Uint32Array;
  halves: Uint16Array;
  readonly kernel: TokenizerFunctions;
  readonly #memory: WasmMemory;
  #used = FREE_FROM;
  /** The free list, in order of addresses; without it a thread needs half as much memory again. */
  #freeBlocks: FreeBlock[] = [];

  constructor() {
    const limits = { initial: LEAST_GROWTH / PAGE_BYTES, maximum: MOST_PAGES };
    const { memory, functions } = startKernel<TokenizerFunctions>('tokenizer', limits);
    const { buffer } = memory;
    this.#memory = memory;
    this.kernel = functions;
    this.bytes = Buffer.from(buffer);
    this.numbers = new Uint32Array(buffer);
    this.halves = new Uint16Array(buffer);
    // A different seed in each thread, so that nobody can craft a file whose words all hash to one slot.
    randomFillSync(this.bytes, SEED, 8);
    writeByteKinds(buffer);
    writeRules(buffer);
  }

  /**
   * Allocates zeroed bytes and returns their address. After the last of them, the kernel can read as much as it reads in one step.
   *
   * @throws AppError `limit` if there is not enough memory.
   */
  allocate(size: number): number {
    const length = aligned(size);
    const block = this.#freeBlocks.filter((free) => free.length >= length).sort((a, b) => a.length - b.length)[0];
    if (block === undefined) return this.#allocateAtEnd(length);
    const { address } = block;
    block.address += length;
    block.length -= length;
    this.bytes.fill(0, address, address + length);
    return address;
  }

  /** Frees memory for others. */
  free(address: number, size: number): void {
    if (size > 0) this.#freeBlocks.push({ address, length: aligned(size) });
    this.#freeBlocks.sort((a, b) => a.address - b.address);
    const joined: FreeBlock[] = [];
    for (const block of this.#freeBlocks) {
      const last = joined.at(-1);
      if (last !== undefined && last.address + last.length === block.address) last.length += block.length;
      else if (block.length > 0) joined.push(block);
    }
    this.#freeBlocks = joined;
  }

  #allocateAtEnd(length: number): number {
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
      throw new AppError('limit', 'Not enough memory to index this batch. Add the texts in smaller parts.', {
        cause,
      });
    }
    const { buffer } = this.#memory;
    this.bytes = Buffer.from(buffer);
    this.numbers = new Uint32Array(buffer);
    this.halves = new Uint16Array(buffer);
  }
}

/** A buffer in the memory that moves when it needs more space. */
export class GrowableBuffer {
  address = 0;
  size = 0;
  #releasedSize = 0;
  readonly #memory: KernelMemory;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  /** Ensures a capacity in bytes. The first `used` bytes keep their contents; new bytes are zeros. */
  reserve(size: number, used = this.size): void {
    if (size <= this.size) return;
    const larger = Math.max(size, this.#releasedSize, (3 * this.size) / 2);
    const address = this.#memory.allocate(larger);
    this.#memory.bytes.copyWithin(address, this.address, this.address + used);
    this.#memory.free(this.address, this.size);
    [this.address, this.size] = [address, larger];
  }

  /** Frees memory that is not needed now. The next `reserve` allocates as much again, so that it need not grow step by step. */
  release(): void {
    if (this.#memory.bytes.length < LEAST_SHARED) return;
    this.#memory.free(this.address, this.size);
    this.#releasedSize = this.size;
    [this.address, this.size] = [0, 0];
  }

  /** Clears the first bytes, up to the capacity. */
  clear(size = this.size): void {
    this.#memory.bytes.fill(0, this.address, this.address + Math.min(size, this.size));
  }
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

/** Writes the classes of each byte to the kernel's memory. */
function writeByteKinds(memory: ArrayBuffer): void {
  const kinds = new Uint8Array(memory, KINDS, 256);
  for (let byte = 0; byte <= LAST_ASCII; byte += 1) {
    const letter = String.fromCharCode(byte);
    for (const [pattern, bit] of PATTERNS) if (pattern.test(letter)) kinds[byte] = (kinds[byte] ?? 0) | bit;
  }
}
