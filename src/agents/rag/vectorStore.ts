import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TopK } from '../../retrieval/topK.ts';
import type { Chunk } from '../../retrieval/chunk.ts';
import type { Hit } from '../../retrieval/keywordIndex.ts';
import { AppError } from '../../core/errors.ts';
import type { Embedder } from './embedder.ts';

const BATCH = 64;
const FILE = 'vectors.bin';
const MAGIC = 'FWVEC1\n';
const HASH_BYTES = 32;

/**
 * Chunks ranked by the cosine of their vectors with the query's. With a folder, vectors are kept there by the hash of their
 * text: an unchanged text is not embedded again, and another model starts anew.
 */
export class VectorStore {
  readonly #embedder: Embedder;
  readonly #folder: string | undefined;
  readonly #entries: { readonly chunk: Chunk; readonly vector: Float32Array }[] = [];
  readonly #known: Map<string, Float32Array>;

  private constructor(embedder: Embedder, folder: string | undefined, known: Map<string, Float32Array>) {
    this.#embedder = embedder;
    this.#folder = folder;
    this.#known = known;
  }

  /** Opens the store; a file that is missing, damaged or of another model counts as empty. */
  static async open(embedder: Embedder, folder: string | undefined): Promise<VectorStore> {
    const known = folder === undefined ? undefined : await readVectors(join(folder, FILE), embedder.id);
    return new VectorStore(embedder, folder, known ?? new Map<string, Float32Array>());
  }

  async add(chunks: readonly Chunk[]): Promise<void> {
    const hashes = chunks.map(({ text }) => hashOf(text));
    const missing = new Map(
      chunks.flatMap(({ text }, at) => (this.#known.has(hashes[at] ?? '') ? [] : [[hashes[at] ?? '', text]])),
    );
    const entries = [...missing];
    for (let from = 0; from < entries.length; from += BATCH) {
      const batch = entries.slice(from, from + BATCH);
      const vectors = await this.#embedder.embed(batch.map(([, text]) => text));
      for (const [at, [hash]] of batch.entries()) this.#known.set(hash, normalized(vectors[at], this.#embedder.id));
    }
    for (const [at, chunk] of chunks.entries()) {
      const vector = this.#known.get(hashes[at] ?? '');
      if (vector !== undefined) this.#entries.push({ chunk, vector });
    }
    if (this.#folder !== undefined && missing.size > 0) await this.#save(this.#folder);
  }

  async search(query: string, limit: number): Promise<readonly Hit[]> {
    if (this.#entries.length === 0 || limit < 1) return [];
    const [raw] = await this.#embedder.embed([query]);
    const wanted = normalized(raw, this.#embedder.id);
    const best = new TopK<Chunk>(limit);
    for (const { chunk, vector } of this.#entries) best.offer(chunk, dot(wanted, vector));
    return best.sorted().map(({ item, score }) => ({ chunk: item, score }));
  }

  /** Header line with the model, then for each text its hash and vector, then a checksum of it all. */
  async #save(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    const dimensions = this.#known.values().next().value?.length ?? 0;
    const header = `${MAGIC}${JSON.stringify({ model: this.#embedder.id, dimensions, count: this.#known.size })}\n`;
    const parts: Uint8Array[] = [Buffer.from(header)];
    for (const [hash, vector] of this.#known) {
      parts.push(Buffer.from(hash, 'hex'), Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength));
    }
    const body = Buffer.concat(parts);
    const temporary = join(folder, `${FILE}.${randomUUID()}.tmp`);
    try {
      await writeFile(temporary, Buffer.concat([body, createHash('sha256').update(body).digest()]));
      await rename(temporary, join(folder, FILE));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

async function readVectors(path: string, model: string): Promise<Map<string, Float32Array> | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch {
    return undefined;
  }
  const body = bytes.subarray(0, -HASH_BYTES);
  const isWhole = createHash('sha256').update(body).digest().equals(bytes.subarray(-HASH_BYTES));
  if (!isWhole || body.subarray(0, MAGIC.length).toString('latin1') !== MAGIC) return undefined;
  const end = body.indexOf('\n', MAGIC.length);
  const header = JSON.parse(body.subarray(MAGIC.length, end).toString('utf8')) as {
    model: string;
    dimensions: number;
    count: number;
  };
  if (header.model !== model) return undefined;
  const known = new Map<string, Float32Array>();
  const size = HASH_BYTES + header.dimensions * Float32Array.BYTES_PER_ELEMENT;
  for (let index = 0; index < header.count; index += 1) {
    const at = end + 1 + index * size;
    const hash = body.subarray(at, at + HASH_BYTES).toString('hex');
    // Copied, since a Float32Array must begin at a multiple of four bytes.
    known.set(hash, new Float32Array(Uint8Array.from(body.subarray(at + HASH_BYTES, at + size)).buffer));
  }
  return known;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function normalized(vector: Float32Array | undefined, id: string): Float32Array {
  if (vector === undefined || vector.length === 0) throw new AppError('corrupt', `${id} gave an empty vector.`);
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
