import { AppError } from '../../../core/errors.ts';
import { ENTRY_BYTES, SUMMED_PER_STEP } from '../../kernel/assembly/layout/vectors.ts';
import { PAGE_BYTES, startKernel } from '../../kernel/kernelInstance.ts';

const NUMBER_BYTES = 4;
// Rows are added this many at a time.
const MOST_ENTRIES = 1024;
const SUM_AT = MOST_ENTRIES * ENTRY_BYTES;

/** The functions of `kernel/assembly/vectors.ts`. */
interface SumFunctions {
  readonly addRows: (entries: number, entriesEnd: number, size: number, sum: number) => void;
}

/** A table of vectors, and weighted sums of its rows. */
export class EmbeddingTable {
  readonly #dimensions: number;
  readonly #rowBytes: number;
  readonly #rowsAt: number;
  readonly #kernel: SumFunctions;
  readonly #addresses: Uint32Array;
  readonly #factors: Float32Array;
  readonly #sum: Float32Array;
  #entryCount = 0;

  /** @param numbers row by row. @throws AppError `limit` if there is not enough memory. */
  constructor(rows: number, dimensions: number, numbers: Float32Array) {
    const stride = Math.ceil(dimensions / SUMMED_PER_STEP) * SUMMED_PER_STEP;
    this.#dimensions = dimensions;
    this.#rowBytes = NUMBER_BYTES * stride;
    this.#rowsAt = SUM_AT + this.#rowBytes;
    const { memory, functions } = startTable(this.#rowsAt + rows * this.#rowBytes);
    const { buffer } = memory;
    this.#kernel = functions;
    this.#addresses = new Uint32Array(buffer, 0, SUM_AT / NUMBER_BYTES);
    this.#factors = new Float32Array(buffer, 0, SUM_AT / NUMBER_BYTES);
    this.#sum = new Float32Array(buffer, SUM_AT, stride);
    const table = new Float32Array(buffer, this.#rowsAt);
    for (let row = 0; row < rows; row += 1) {
      table.set(numbers.subarray(row * dimensions, (row + 1) * dimensions), row * stride);
    }
  }

  /** Adds a row to the sum. */
  add(row: number, factor: number): void {
    if (this.#entryCount === MOST_ENTRIES) this.#flush();
    const at = 2 * this.#entryCount;
    this.#addresses[at] = this.#rowsAt + row * this.#rowBytes;
    this.#factors[at + 1] = factor;
    this.#entryCount += 1;
  }

  /** The sum of the added rows. The next sum starts from zeros. */
  takeSum(): Float32Array {
    this.#flush();
    const sum = this.#sum.slice(0, this.#dimensions);
    this.#sum.fill(0);
    return sum;
  }

  #flush(): void {
    this.#kernel.addRows(0, this.#entryCount * ENTRY_BYTES, this.#rowBytes, SUM_AT);
    this.#entryCount = 0;
  }
}

function startTable(bytes: number): ReturnType<typeof startKernel<SumFunctions>> {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  try {
    return startKernel<SumFunctions>('vectors', { initial: pages, maximum: pages });
  } catch (cause) {
    throw new AppError('limit', `There is not enough memory for a table of ${Math.ceil(bytes / 1e6)} MB.`, { cause });
  }
}
