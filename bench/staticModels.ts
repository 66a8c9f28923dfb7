// How fast a static embedding model embeds, against Hugging Face's tokenizers in JavaScript with plain loops over a Float32Array. The
// model is made from the words of the corpus, with random numbers; speed does not depend on them. Folders, and the length of the
// vectors, may be given: `staticModels.ts 256 FOLDER...`. Times are the processor's, because a busy machine would make others longer.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StaticModel } from '../src/retrieval/embedding/static/staticModel.ts';
import { randomFrom } from '../test/random.ts';
import { bytesOf, safetensors, tokenizerDefinition, writeStaticModel } from '../test/staticModel.ts';
import { EngineCorpus } from './support/engineCorpus.ts';
import { peerPackage } from './support/peerPackage.ts';

const [LENGTH = '256', ...FOLDERS] = process.argv.slice(2);
const DIMENSIONS = Number(LENGTH);
const MOST_BYTES = 10e6;
const PEER_TEXTS = 1000;
const WORDS = 20_000;
const ENDINGS = 9_000;
const ROUNDS = 3;

interface PeerTokenizer {
  encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: readonly number[] };
}
const { Tokenizer } = (await peerPackage('@huggingface/tokenizers')) as {
  readonly Tokenizer: new (definition: object, settings: object) => PeerTokenizer;
};

const corpus = new EngineCorpus(FOLDERS.length > 0 ? FOLDERS : [join(import.meta.dirname, '..')]);
const texts = [...corpus.read(MOST_BYTES)].flatMap(({ chunks }) => chunks.map(({ text }) => text));
const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const definition = { ...tokenizerDefinition(vocabulary()), post_processor: null, decoder: null };
const tokens = Object.keys(definition.model.vocab).length;
const random = randomFrom(1);
const numbers = Float32Array.from({ length: tokens * DIMENSIONS }, () => random() - 0.5);
const table = safetensors({ embeddings: { dtype: 'F32', shape: [tokens, DIMENSIONS], bytes: bytesOf(numbers) } });
const folder = mkdtempSync(join(tmpdir(), 'farwharf-bench-static-'));
try {
  await writeStaticModel(join(folder, 'model'), { table, tokenizer: definition });
  const started = performance.now();
  const model = await StaticModel.open({ model: 'model', folder });
  const openMs = performance.now() - started;
  const peer = new Tokenizer(definition, {});
  const some = texts.filter((_, at) => at % Math.ceil(texts.length / PEER_TEXTS) === 0);
  const someBytes = some.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const own = await bestOf(() => model.embed(texts, {}));
  const plain = await bestOf(() => Promise.resolve(some.map((text) => plainVector(text, peer))));

  const expected = some.map((text) => plainVector(text, peer));
  const actual = await model.embed(some, {});
  for (const [at, vector] of expected.entries()) {
    const cosine = vector.reduce((sum, value, column) => sum + value * (actual[at]?.[column] ?? 0), 0);
    assert.ok(cosine > 0.9999 || vector.every((value) => value === 0), some[at]);
  }
  const [ownSpeed, plainSpeed] = [bytes / own / 1000, someBytes / plain / 1000];
  process.stdout.write(
    `static models: ${(bytes / 1e6).toFixed(1)} MB in ${texts.length} chunks, ${tokens} tokens x ${DIMENSIONS}, opened in ${openMs.toFixed(0)} ms\n` +
      `static models: farwharf            ${ownSpeed.toFixed(1)} MB/s\n` +
      `static models: tokenizers + loops  ${plainSpeed.toFixed(2)} MB/s, ${(ownSpeed / plainSpeed).toFixed(0)} times slower, same vectors\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Signs, the most frequent words of the corpus, all single characters as endings, and the most frequent endings. */
function vocabulary(): Readonly<Record<string, number>> {
  const words = new Map<string, number>();
  const endings = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.toLowerCase().matchAll(/[a-z0-9]{1,20}/g)) {
      words.set(word, (words.get(word) ?? 0) + 1);
      for (let from = Math.max(1, word.length - 6); from < word.length; from += 1) {
        const ending = `##${word.slice(from)}`;
        endings.set(ending, (endings.get(ending) ?? 0) + 1);
      }
    }
  }
  const signs = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at).toLowerCase());
  const singles = signs.filter((sign) => /[a-z0-9]/.test(sign)).map((sign) => `##${sign}`);
  const all = ['[PAD]', '[UNK]', ...signs, ...singles, ...frequent(words, WORDS), ...frequent(endings, ENDINGS)];
  return Object.fromEntries([...new Set(all)].map((token, id) => [token, id]));
}

function frequent(counts: ReadonlyMap<string, number>, most: number): readonly string[] {
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return sorted.slice(0, most).map(([word]) => word);
}

function plainVector(text: string, peer: PeerTokenizer): Float32Array {
  const sum = new Float32Array(DIMENSIONS);
  for (const id of peer.encode(text, { add_special_tokens: false }).ids) {
    if (id === definition.model.vocab['[UNK]']) continue;
    const row = id * DIMENSIONS;
    for (let at = 0; at < DIMENSIONS; at += 1) sum[at] = (sum[at] ?? 0) + (numbers[row + at] ?? 0);
  }
  const length = Math.hypot(...sum);
  return length === 0 ? sum : sum.map((value) => value / length);
}

/** Milliseconds of the processor, in the best of a few rounds. */
async function bestOf(run: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}
