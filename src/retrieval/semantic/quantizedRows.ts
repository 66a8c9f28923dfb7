import { AppError } from '../../core/errors.ts';
import { TopK } from '../search/topK.ts';
import { NUMBERS_PER_STEP, ROWS_PER_STEP } from '../kernel/assembly/kernelLayout.ts';
import { canStartKernel, PAGE_BYTES, startKernel } from '../kernel/kernelInstance.ts';

// Dot products are computed for this many rows at a time, so that they stay in the processor's L1 cache until they are read.
const BLOCK_ROWS = 4096;
const QUERY_BYTES = 32_768;
const ROWS_AT = QUERY_BYTES + BLOCK_ROWS * Int32Array.BYTES_PER_ELEMENT;
/** The maximum length of a vector; the query takes two bytes per number. */
const MAX_DIMENSIONS = QUERY_BYTES / 2;
const MAX_PAGES = 65_536;

interface FoundRow {
  readonly row: number;
  /** The approximate cosine with the query. */
  readonly score: number;
}

interface NearestRows {
  /** Best first. */
  readonly rows: readonly FoundRow[];
  /** The mean of the cosines of all rows with the query, wanted or not, and their standard deviation. */
  readonly mean: number;
  readonly deviation: number;
}

// the address space of 32 bits

/** The functions of `kernel/assembly/vectors.ts`. */
interface DotFunctions {
  readonly dots: (query: number, rows: number, rowsEnd: number, stride: number, out: number) => void;
}

/** Growable memory, and the kernel that multiplies the vectors in it. */
interface RowMemory extends DotFunctions {
  /** Replaced after each growth. */
  readonly buffer: ArrayBuffer;
  /** Returns whether that much memory was available. */
  grow(pages: number): boolean;
}

/** The size of a row in bytes, with padding. */
function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / NUMBERS_PER_STEP) * NUMBERS_PER_STEP;
}

/**
 * Vectors of one length with one byte per number, and a brute-force search for the nearest: exact up to the rounding of the numbers,
 * without an index to build, at the speed of memory. It uses WebAssembly's SIMD if available.
 */
export class QuantizedRows {
  readonly #dimensions: number;
  readonly #stride: number;
  readonly #memory: RowMemory;
  #scales = new Float32Array(BLOCK_ROWS);
  #count = 0;

  /** @throws AppError `limit` for too many dimensions. */
  constructor(dimensions: number, { simd = true }: { readonly simd?: boolean } = {}) {
    if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
      throw new AppError(
        'limit',
        `Vectors of ${dimensions} numbers cannot be searched; the maximum is ${MAX_DIMENSIONS}. Choose another embedding model.`,
      );
    }
    this.#dimensions = dimensions;
    this.#stride = strideOf(dimensions);
    const pages = Math.ceil(ROWS_AT / PAGE_BYTES) + 1;
    this.#memory = (simd ? simdMemory(pages) : undefined) ?? new PlainMemory(pages);
  }

  get count(): number {
    return this.#count;
  }

  /** Adds vectors, rounded. Returns the row of the first. @throws AppError `limit` above 4 GB. */
  add(vectors: readonly Float32Array[]): number {
    const first = this.#count;
    this.#reserve(first + vectors.length);
    for (const [index, vector] of vectors.entries()) {
      const at = ROWS_AT + (first + index) * this.#stride;
      this.#scales[first + index] = quantize(vector, new Int8Array(this.#memory.buffer, at, this.#dimensions), 127);
    }
    this.#count += vectors.length;
    return first;
  }

  /** Approximately the `limit` rows closest to a vector of length 1, best first, among those for which `isWanted` is true. */
  nearest(query: Float32Array, limit: number, isWanted: (row: number) => boolean): NearestRows {
    const best = new TopK<number>(limit);
    if (this.#count === 0 || limit < 1) return { rows: [], mean: 0, deviation: 0 };
    const numbers = new Int16Array(this.#memory.buffer, 0, this.#stride).fill(0);
    const queryScale = quantize(query, numbers.subarray(0, this.#dimensions), this.#queryRange());
    const products = new Int32Array(this.#memory.buffer, QUERY_BYTES, BLOCK_ROWS);
    const scales = this.#scales;
    let threshold = -Infinity;
    let [sum, squares] = [0, 0];
    for (let from = 0; from < this.#count; from += BLOCK_ROWS) {
      const rows = Math.min(BLOCK_ROWS, this.#count - from);
      const padded = Math.ceil(rows / ROWS_PER_STEP) * ROWS_PER_STEP;
      const at = ROWS_AT + from * this.#stride;
      this.#memory.dots(0, at, at + padded * this.#stride, this.#stride, QUERY_BYTES);
      for (let index = 0; index < rows; index += 1) {
        const score = (products[index] ?? 0) * (scales[from + index] ?? 0);
        sum += score;
        squares += score * score;
        if (score > threshold && isWanted(from + index)) {
          best.offer(from + index, score);
          ({ threshold } = best);
        }
      }
    }
    const mean = sum / this.#count;
    return {
      rows: best.sorted().map(({ item, score }) => ({ row: item, score: score * queryScale })),
      mean: mean * queryScale,
      deviation: Math.sqrt(Math.max(0, squares / this.#count - mean * mean)) * queryScale,
    };
  }

  /** The query is quantized more finely than the rows, but no sum of products may exceed 32 bits. */
  #queryRange(): number {
    return Math.min(32_767, Math.floor(2 ** 31 / (this.#dimensions * 128)) - 1);
  }

  #reserve(rows: number): void {
    const bytes = ROWS_AT + (rows + 2 * ROWS_PER_STEP) * this.#stride;
    const missing = bytes - this.#memory.buffer.byteLength;
    if (missing > 0) {
      // An eighth more than needed, so that adding single rows does not grow it each time.
      const pages = Math.ceil((missing + bytes / 8) / PAGE_BYTES);
      if (!this.#memory.grow(pages) && !this.#memory.grow(Math.ceil(missing / PAGE_BYTES))) {
        throw new AppError('limit', `There is not enough memory for ${rows.toLocaleString('en-US')} vectors.`);
      }
    }
    if (rows <= this.#scales.length) return;
    const scales = new Float32Array(Math.max(rows, this.#scales.length * 2));
    scales.set(this.#scales);
    this.#scales = scales;
  }
}

/** Writes a vector as integers from -range to range. Returns the value of one unit. */
function quantize(vector: Float32Array, target: Int8Array | Int16Array, range: number): number {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const factor = largest === 0 ? 0 : range / largest;
  for (let at = 0; at < vector.length; at += 1) target[at] = Math.round((vector[at] ?? 0) * factor);
  return factor === 0 ? 0 : 1 / factor;
}

/** Memory with the kernel in WebAssembly; undefined if WebAssembly or its SIMD instructions are not available. */
function simdMemory(pages: number): RowMemory | undefined {
  if (!canStartKernel('vectors')) return undefined;
  const { memory, functions } = startKernel<DotFunctions>('vectors', { initial: pages, maximum: MAX_PAGES });
  return {
    get buffer() {
      return memory.buffer;
    },
    grow(more) {
      try {
        memory.grow(more);
        return true;
      } catch {
        return false;
      }
    },
    dots: functions.dots,
  };
}

/** The same in JavaScript, which is many times slower. */
class PlainMemory implements RowMemory {
  buffer: ArrayBuffer;

  constructor(pages: number) {
    this.buffer = new ArrayBuffer(pages * PAGE_BYTES);
  }

  grow(more: number): boolean {
    try {
      const grown = new ArrayBuffer(this.buffer.byteLength + more * PAGE_BYTES);
      new Uint8Array(grown).set(new Uint8Array(this.buffer));
      this.buffer = grown;
      return true;
    } catch {
      return false;
    }
  }

  dots(queryAt: number, rowsAt: number, rowsEnd: number, stride: number, outAt: number): void {
    const query = new Int16Array(this.buffer, queryAt, stride);
    const out = new Int32Array(this.buffer, outAt, (rowsEnd - rowsAt) / stride);
    const rows = new Int8Array(this.buffer, rowsAt, rowsEnd - rowsAt);
    for (let index = 0, at = 0; at < rows.length; index += 1) {
      let sum = 0;
      for (let column = 0; column < stride; column += 1) sum += (query[column] ?? 0) * (rows[at++] ?? 0);
      out[index] = sum;
    }
  }
}
