import { hash } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { SerialQueue } from '../../core/processes/serialQueue.ts';
import { QuantizedRows } from './quantizedRows.ts';
import { VectorFiles } from './vectorFiles.ts';
import type { KeyedVector } from './vectorPack.ts';

// The most that a crash can lose: a minute of a slow model's work, or a cent's worth of an expensive one's.
const PACK_VECTORS = 2048;
const REPLACED_VECTORS = 32_768;
// The exact vectors are read for this many of the nearest rounded rows, which include the true ten nearest.
const LEAST_RESCORED = 40;

export interface FoundKey {
  readonly key: string;
  /** The cosine of the angle between the two. */
  readonly score: number;
  /** By how many standard deviations the cosine is above the mean of all texts. */
  readonly standardScore: number;
}

/** Consecutive rows, and the location of their exact numbers. */
interface Block {
  readonly firstRow: number;
  readonly read: (index: number) => Float32Array | undefined;
}

/** The key of a text: its hash. */
export function textKey(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/**
 * Vectors of texts by the hash of the text, for one model, and the search for the nearest. If a folder is given, they are stored there:
 * an unchanged text is never embedded again, another model starts from nothing, and damaged vectors count as missing.
 */
export class VectorStore implements Disposable {
  readonly #model: string;
  readonly #files: VectorFiles | undefined;
  readonly #isHeld: boolean;
  readonly #rowOf = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #blocks: Block[] = [];
  #rows: QuantizedRows | undefined;
  #dimensions = 0;
  /** Vectors that are not in a file yet, in the order of their rows. */
  #unwritten: KeyedVector[] = [];
  readonly #writing = new SerialQueue();

  private constructor(model: string, files: VectorFiles | undefined, isHeld: boolean) {
    this.#isHeld = isHeld;
    this.#model = model;
    this.#files = files;
  }

  /**
   * Opens the vectors in a folder; without one, they are in memory only. `model` is the embedder's `id`. Exact numbers are read from the
   * files on demand; with `isHeld` they are held in memory, and no file stays open.
   *
   * @throws the system's error if the folder cannot be created or listed.
   */
  static async open(folder: string | undefined, model: string, { isHeld = false } = {}): Promise<VectorStore> {
    const files = folder === undefined ? undefined : new VectorFiles(folder, model);
    const store = new VectorStore(model, files, isHeld);
    await files?.open((pack, read) => {
      if (store.#dimensions === 0) store.#dimensions = pack.dimensions;
      if (store.#dimensions !== pack.dimensions) return;
      const added = [...read].filter(([, { key }]) => !store.#rowOf.has(key));
      const records = Uint32Array.from(added, ([record]) => record);
      const vectors = added.map(([, keyed]) => keyed);
      store.#insert(vectors, (index) => (isHeld ? vectors[index]?.vector : pack.read(records[index] ?? 0)));
      if (isHeld) pack.dispose();
    });
    return store;
  }

  get count(): number {
    return this.#rowOf.size;
  }

  has(key: string): boolean {
    return this.#rowOf.has(key);
  }

  /**
   * Adds vectors, normalized to length 1, and writes them from time to time.
   *
   * @throws AppError `corrupt` for one that is empty or not finite, `conflict` for one of a different length than the existing ones; or
   * the system's error.
   */
  async add(vectors: readonly KeyedVector[]): Promise<void> {
    const fresh = new Map(vectors.filter(({ key }) => !this.#rowOf.has(key)).map(({ key, vector }) => [key, vector]));
    if (fresh.size === 0) return;
    const added = Array.from(fresh, ([key, vector]) => ({ key, vector: this.#normalized(vector) }));
    this.#insert(added, (index) => added[index]?.vector);
    if (this.#files === undefined) return;
    this.#unwritten.push(...added);
    if (this.#unwritten.length >= PACK_VECTORS) await this.flush();
  }

  /** Writes the vectors that are not in a file yet. @throws the system's error; they stay in memory then. */
  flush(): Promise<void> {
    return this.#writing.run(() => this.#write());
  }

  /** The `limit` wanted texts closest to a query, best first by cosine. @throws as `add` does. */
  nearest(query: Float32Array, limit: number, isWanted: (key: string) => boolean = () => true): readonly FoundKey[] {
    if (this.#rows === undefined || limit < 1) return [];
    const unit = this.#normalized(query);
    const isWantedRow = (row: number): boolean => isWanted(this.#keys[row] ?? '');
    const { rows, mean, deviation } = this.#rows.nearest(unit, Math.max(2 * limit, LEAST_RESCORED), isWantedRow);
    const rescored = rows.map(({ row, score: rounded }) => {
      const exact = this.#readExact(row);
      const score = exact === undefined ? rounded : dot(unit, exact);
      return { key: this.#keys[row] ?? '', score, standardScore: deviation > 0 ? (score - mean) / deviation : 0 };
    });
    return rescored.sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1)).slice(0, limit);
  }

  /**
   * Call this when nothing is left to embed. Removes files of other models and damaged files. If most stored vectors are no longer
   * `isLive`, removes the dead ones too. The rows stay unchanged until the store is opened again.
   */
  async compact(isLive: (key: string) => boolean = () => true): Promise<void> {
    if (this.#files === undefined) return;
    await this.flush();
    await this.#files.removeOthers();
    const live = [...this.#rowOf].filter(([key]) => isLive(key));
    if (live.length * 2 < this.#rowOf.size) await this.#files.replaceAll(this.#readInParts(live));
  }

  dispose(): void {
    this.#files?.dispose();
  }

  async #write(): Promise<void> {
    const vectors = this.#unwritten;
    if (vectors.length === 0 || this.#files === undefined) return;
    this.#unwritten = [];
    const firstRow = this.#rowOf.get(vectors[0]?.key ?? '') ?? 0;
    try {
      const pack = await this.#files.write(vectors);
      if (this.#isHeld) return pack.dispose();
      // The file has them in the order of their rows, so their copies in memory are not needed.
      const isWritten = (block: Block): boolean =>
        block.firstRow >= firstRow && block.firstRow < firstRow + vectors.length;
      const at = this.#blocks.findIndex(isWritten);
      this.#blocks.splice(at, this.#blocks.filter(isWritten).length, { firstRow, read: (index) => pack.read(index) });
    } catch (error) {
      this.#unwritten = [...vectors, ...this.#unwritten];
      throw error;
    }
  }

  #insert(vectors: readonly KeyedVector[], read: Block['read']): void {
    this.#rows ??= new QuantizedRows(this.#dimensions);
    const firstRow = this.#rows.add(vectors.map(({ vector }) => vector));
    for (const [index, { key }] of vectors.entries()) {
      this.#rowOf.set(key, firstRow + index);
      this.#keys[firstRow + index] = key;
    }
    this.#blocks.push({ firstRow, read });
  }

  #readExact(row: number): Float32Array | undefined {
    const block = this.#blocks.findLast(({ firstRow }) => firstRow <= row);
    return block?.read(row - block.firstRow);
  }

  *#readInParts(live: readonly (readonly [string, number])[]): Generator<KeyedVector[], void> {
    for (let from = 0; from < live.length; from += REPLACED_VECTORS) {
      yield live.slice(from, from + REPLACED_VECTORS).flatMap(([key, row]) => {
        const vector = this.#readExact(row);
        return vector === undefined ? [] : [{ key, vector }];
      });
    }
  }

  #normalized(vector: Float32Array): Float32Array {
    if (vector.length === 0 || !vector.every(Number.isFinite)) {
      throw new AppError('corrupt', `${this.#model} returned an empty or non-numeric vector. Choose another model.`);
    }
    if (this.#dimensions === 0) this.#dimensions = vector.length;
    if (vector.length !== this.#dimensions) {
      throw new AppError(
        'conflict',
        `${this.#model} returned ${vector.length} numbers, and ${this.#dimensions} before: it is a different model with the same name. Remove its earlier vectors, or rename it.`,
      );
    }
    const length = Math.sqrt(dot(vector, vector)) || 1;
    return vector.map((value) => value / length);
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
