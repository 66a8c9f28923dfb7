import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AppError, messageOf } from '../../../core/errors.ts';
import { Yielder } from '../../../core/processes/yielder.ts';
import { EmbeddingTable } from './embeddingTable.ts';
import { Safetensors, type Tensor } from './safetensors.ts';
import { readModelFile, TABLE_FILE, TOKENIZER_FILE } from './staticModelFiles.ts';
import { type Word, WordPiece } from './wordPiece.ts';

// As model2vec and as sentence-transformers store it.
const TABLE_NAMES = ['embeddings', 'embedding.weight'];

/**
 * A static embedding model in model2vec's format: a table with a vector for each token. The
 * vector of a text is the mean of those of its tokens, so no neural network runs, and no library is needed.
 */
export class StaticModel {
  /** The hash of its table and its tokenizer, which distinguishes models of the same name. */
  readonly fingerprint: string;
  readonly #tokenizer: WordPiece;
  readonly #table: EmbeddingTable;
  /** The row of each token in the table. */
  readonly #rows: Uint32Array;
  readonly #weights: Float32Array | undefined;

  private constructor(fingerprint: string, tokenizer: WordPiece, tensors: Safetensors) {
    const table = TABLE_NAMES.map((name) => tensors.tensor(name)).find((tensor) => tensor !== undefined);
    const [rows = 0, dimensions = 0] = table?.shape ?? [];
    if (table?.shape.length !== 2 || dimensions === 0) {
      throw corrupt(`${TABLE_FILE} has no table of vectors by the name of ${TABLE_NAMES.join(' or ')}`);
    }
    const tokens = tokenizer.lastId + 1;
    const mapping = listOf(tensors.tensor('mapping'), 'mapping', tokens);
    if (mapping === undefined && tokens > rows) {
      throw corrupt(`${TOKENIZER_FILE} has ${tokens} tokens, but ${TABLE_FILE} has vectors for ${rows}`);
    }
    this.fingerprint = fingerprint;
    this.#tokenizer = tokenizer;
    this.#table = new EmbeddingTable(rows, dimensions, table.numbers);
    this.#weights = listOf(tensors.tensor('weights'), 'weights', tokens);
    this.#rows = Uint32Array.from({ length: tokens }, (_, id) => {
      const row = mapping?.[id] ?? id;
      if (row < 0 || row >= rows) throw corrupt(`its mapping names vector ${row} of ${rows}`);
      return row;
    });
  }

  /**
   * Reads a model. Links to files are followed, because the cache of the model hub consists of them.
   *
   * @throws AppError `missing` if a file cannot be read, `limit` if one is too large, `corrupt` if one is not valid.
   */
  static async open({ model, folder }: { readonly model: string; readonly folder: string }): Promise<StaticModel> {
    try {
      const table = await readModelFile(join(folder, model), TABLE_FILE);
      const tokenizer = await readModelFile(join(folder, model), TOKENIZER_FILE);
      const fingerprint = createHash('sha256').update(table).update(tokenizer).digest('hex').slice(0, 12);
      return new StaticModel(fingerprint, new WordPiece(parse(tokenizer)), new Safetensors(table));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError(error.code, `The embedding model ${model} cannot be used: ${error.message}`, { cause: error });
    }
  }

  /** Vectors of length 1, the mean over a text's tokens; zeros for a text without any. @throws the signal's reason. */
  async embed(
    texts: readonly string[],
    { signal }: { readonly signal?: AbortSignal | undefined },
  ): Promise<Float32Array[]> {
    const yielder = new Yielder(signal);
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      if (yielder.isDue) await yielder.pause();
      vectors.push(this.#vectorOf(text));
    }
    return vectors;
  }

  #vectorOf(text: string): Float32Array {
    const present: Word[] = [];
    this.#tokenizer.scan(text, (word) => {
      if (word.count === 0) present.push(word);
      word.count += 1;
    });
    for (const word of present) {
      for (const id of word.ids) this.#table.add(this.#rows[id] ?? 0, word.count * (this.#weights?.[id] ?? 1));
      word.count = 0;
    }
    return toUnitLength(this.#table.takeSum());
  }
}

/** The mean has the same direction as the sum. */
function toUnitLength(sum: Float32Array): Float32Array {
  let square = 0;
  for (const value of sum) square += value * value;
  const length = Math.sqrt(square);
  // Numbers of a hostile model may be so large that their sum is not finite.
  if (!(length > 0 && length < Infinity)) return sum.fill(0);
  for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) / length;
  return sum;
}

function listOf(tensor: Tensor | undefined, name: string, length: number): Float32Array | undefined {
  if (tensor === undefined) return undefined;
  if (tensor.shape.length === 1 && tensor.numbers.length >= length) return tensor.numbers;
  throw corrupt(`its ${name} are not a list of ${length} numbers`);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new AppError('corrupt', `${TOKENIZER_FILE} is not valid JSON: ${messageOf(cause)}`, { cause });
  }
}

function corrupt(reason: string): AppError {
  return new AppError('corrupt', `${reason}.`);
}
