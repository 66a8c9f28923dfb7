import { DOT_PROGRAM } from './dotProgram.ts';

export const PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536; // what a 32-bit address can name

/** Memory that grows, and the program that multiplies what lies in it. */
export interface RowMemory {
  /** Another one after each growth. */
  readonly buffer: ArrayBuffer;
  /** Whether it was to be had. */
  grow(pages: number): boolean;
  /** As `DOT_PROGRAM` says. */
  dots(query: number, rows: number, rowsEnd: number, stride: number, out: number): void;
}

// The part of https://webassembly.github.io/spec/js-api/ that is used; the compiler knows it with the browser's types only.
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WebAssemblyApi {
  validate(bytes: Uint8Array): boolean;
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: { readonly dots: RowMemory['dots'] } };
}

/** Memory with the program in WebAssembly; undefined where WebAssembly or its SIMD is missing. */
export function simdMemory(pages: number): RowMemory | undefined {
  const api = Reflect.get(globalThis, 'WebAssembly') as WebAssemblyApi | undefined;
  if (api === undefined || !api.validate(DOT_PROGRAM)) return undefined;
  const memory = new api.Memory({ initial: pages, maximum: MAX_PAGES });
  const { dots } = new api.Instance(new api.Module(DOT_PROGRAM), { env: { memory } }).exports;
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
    dots,
  };
}

/** The same in JavaScript, many times slower. */
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
