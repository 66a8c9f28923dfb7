import { canStartKernel, PAGE_BYTES, startKernel } from '../kernel/kernelInstance.ts';

const MAX_PAGES = 65_536; // the address space of 32 bits

/** The functions of `kernel/assembly/vectors.ts`. */
interface DotFunctions {
  readonly dots: (query: number, rows: number, rowsEnd: number, stride: number, out: number) => void;
}

/** Growable memory, and the kernel that multiplies the vectors in it. */
export interface RowMemory extends DotFunctions {
  /** Replaced after each growth. */
  readonly buffer: ArrayBuffer;
  /** Returns whether that much memory was available. */
  grow(pages: number): boolean;
}

/** Memory with the kernel in WebAssembly; undefined if WebAssembly or its SIMD instructions are not available. */
export function simdMemory(pages: number): RowMemory | undefined {
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
export class PlainMemory implements RowMemory {
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
