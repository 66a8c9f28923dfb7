import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { UNFINISHED } from '../../core/files/atomicFile.ts';
import { type KeyedVector, VectorPack, writePack } from './vectorPack.ts';

const PACK = '.vectors';
// Small packs are merged once there are many; a large one is not rewritten for a few vectors.
const MAX_SMALL_PACKS = 16;
const SMALL_BYTES = 50_000_000;
const ABANDONED_MS = 86_400_000;

/**
 * The files in a folder with the vectors of one model. Files never change once written, and names are not reused, so that several
 * processes may read and add at once.
 */
export class VectorFiles implements Disposable {
  readonly #folder: string;
  readonly #model: string;
  readonly #opened = new Map<string, VectorPack>();

  constructor(folder: string, model: string) {
    this.#folder = folder;
    this.#model = model;
  }

  /** Opens every file of the model, and reports the undamaged vectors in each. @throws the system's error for the folder. */
  async open(onPack: (pack: VectorPack, vectors: ReadonlyMap<number, KeyedVector>) => void): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await this.#joinSmall(await this.#list())) await this.#openPack(name, onPack);
  }

  /** Writes vectors to a new file, in this order. @throws the system's error; no file remains then. */
  async write(vectors: readonly KeyedVector[]): Promise<VectorPack> {
    const name = `${randomUUID()}${PACK}`;
    await writePack(join(this.#folder, name), this.#model, vectors);
    const pack = await VectorPack.open(join(this.#folder, name), this.#model, () => {});
    if (pack === undefined) throw new Error(`The file that was written to ${this.#folder} could not be read.`);
    this.#opened.set(name, pack);
    return pack;
  }

  /** Removes files without vectors of this model: those of other models, damaged ones, and incomplete ones. */
  async removeOthers(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const isForeign = name.endsWith(PACK) && !this.#opened.has(name) && !(await this.#isOurs(path));
      if (isForeign || (name.endsWith(UNFINISHED) && (await isAbandoned(path)))) await remove(path);
    }
  }

  /** Replaces everything by `vectors`; open files stay readable. @throws the system's error. */
  async replaceAll(vectors: Iterable<readonly KeyedVector[]>): Promise<void> {
    const before = [...this.#opened.keys()];
    for (const part of vectors) await this.write(part);
    for (const name of before) await remove(join(this.#folder, name));
  }

  dispose(): void {
    for (const pack of this.#opened.values()) pack.dispose();
  }

  async #list(): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => name.endsWith(PACK)).sort();
  }

  async #openPack(
    name: string,
    onPack: (pack: VectorPack, vectors: ReadonlyMap<number, KeyedVector>) => void,
  ): Promise<void> {
    const vectors = new Map<number, KeyedVector>();
    const path = join(this.#folder, name);
    const pack = await VectorPack.open(path, this.#model, (record, vector) => vectors.set(record, vector));
    if (pack === undefined) return;
    this.#opened.set(name, pack);
    onPack(pack, vectors);
  }

  /** Returns the names that are valid afterwards. */
  async #joinSmall(names: readonly string[]): Promise<readonly string[]> {
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(this.#folder, name))).size));
    const small = names.filter((_, index) => (sizes[index] ?? 0) < SMALL_BYTES);
    if (small.length <= MAX_SMALL_PACKS) return names;
    const joined = new Map<string, KeyedVector>();
    const sources: string[] = [];
    for (const name of small) {
      await this.#openPack(name, (_, vectors) => {
        for (const vector of vectors.values()) joined.set(vector.key, vector);
        sources.push(name);
      });
    }
    if (sources.length <= MAX_SMALL_PACKS) return names;
    for (const name of sources) {
      this.#opened.get(name)?.dispose();
      this.#opened.delete(name);
    }
    await writePack(join(this.#folder, `${randomUUID()}${PACK}`), this.#model, [...joined.values()]);
    for (const name of sources) await remove(join(this.#folder, name));
    return this.#list();
  }

  async #isOurs(path: string): Promise<boolean> {
    const pack = await VectorPack.open(path, this.#model, () => {});
    pack?.dispose();
    return pack !== undefined;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_MS;
}

/** If the system does not remove a file that is open, it is removed another time. */
async function remove(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
}
