import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import {
  LocalEmbedder,
  needsModelLibrary,
  openChosenModel,
} from '../../../../src/retrieval/embedding/localEmbedder.ts';
import { StaticModel } from '../../../../src/retrieval/embedding/static/staticModel.ts';
import {
  bytesOf,
  exampleTable,
  safetensors,
  type TensorFile,
  tokenizerDefinition,
  writeStaticModel,
} from '../../../staticModel.ts';

const program = join(import.meta.dirname, '../../../../src/retrieval/embedding/modelWorker.ts');
let base: string;
before(async () => {
  base = await mkdtemp(join(tmpdir(), 'farwharf-static-'));
});
after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));

type Files = Parameters<typeof writeStaticModel>[1];
let count = 0;

async function write(
  files?: Files,
): Promise<{ readonly folder: string; readonly model: string; readonly files: string }> {
  const model = `model-${(count += 1)}`;
  await writeStaticModel(join(base, model), files);
  return { folder: base, model, files: join(base, model) };
}

async function vectorsOf(texts: readonly string[], files?: Files): Promise<number[][]> {
  const vectors = await (await StaticModel.open(await write(files))).embed(texts, {});
  return vectors.map((vector) => Array.from(vector, (value) => Math.round(value * 1000) / 1000));
}

const TEXTS = ['Ship', 'boat bread', 'ships!', 'unknown', 'bread unknown', ''];
const EXPECTED = [
  [1, 0, 0, 0],
  [0.894, 0.447, 0, 0],
  [0.894, 0, 0.447, 0],
  [0, 0, 0, 0],
  [0, 1, 0, 0],
  [0, 0, 0, 0],
];

test('the vector of a text is the mean of those of its tokens, of length 1; unknown words do not count', async () => {
  assert.deepEqual(await vectorsOf(TEXTS), EXPECTED);
});

test('the table may consist of half floats, doubles or bytes, and have the name that sentence-transformers gives it', async () => {
  const { shape, bytes } = exampleTable();
  const numbers = Array.from(new Float32Array(bytes.buffer));
  const half = new DataView(new ArrayBuffer(2 * numbers.length));
  const bits: Readonly<Record<number, number>> = { 0: 0, 1: 0x3c00, 2: 0x4000, 3: 0x4200, 9: 0x4880 };
  for (const [at, value] of numbers.entries()) half.setUint16(2 * at, bits[value] ?? 0, true);
  const tables: Readonly<Record<string, Uint8Array>> = {
    F16: bytesOf(half),
    F64: bytesOf(Float64Array.from(numbers)),
    I8: bytesOf(Int8Array.from(numbers)),
  };
  for (const [dtype, data] of Object.entries(tables)) {
    const table = safetensors({ 'embedding.weight': { dtype, shape, bytes: data } });
    assert.deepEqual(await vectorsOf(TEXTS, { table }), EXPECTED, dtype);
  }
});

test('half floats are read as IEEE 754 says: tiny ones, negative ones, the largest', async () => {
  const tokenizer = tokenizerDefinition({ a: 0, b: 1, c: 2 });
  const bytes = bytesOf(Uint16Array.from([0x0001, 0x8002, 0x7bff, 0, 0xb800, 0x3400]));
  const table = safetensors({ embeddings: { dtype: 'F16', shape: [3, 2], bytes } });
  assert.deepEqual(await vectorsOf(['a', 'b', 'c'], { table, tokenizer }), [
    [0.447, -0.894],
    [1, 0],
    [-0.894, 0.447],
  ]);
});

test('a quantized vocabulary has a mapping to fewer vectors, and weights', async () => {
  const tokenizer = tokenizerDefinition({ '[UNK]': 0, ship: 1, boat: 2, bread: 3 });
  const table = safetensors({
    weights: { dtype: 'F64', shape: [4], bytes: bytesOf(Float64Array.from([1, 1, 3, 4])) },
    embeddings: { dtype: 'F32', shape: [2, 2], bytes: bytesOf(Float32Array.from([1, 0, 0, 1])) },
    mapping: { dtype: 'I64', shape: [4], bytes: bytesOf(BigInt64Array.from([0n, 0n, 0n, 1n])) },
  });
  assert.deepEqual(await vectorsOf(['ship bread', 'boat bread'], { table, tokenizer }), [
    [0.243, 0.97],
    [0.6, 0.8],
  ]);
});

test('texts with more different words than are added at once, and vectors of any length', async () => {
  for (const dimensions of [1, 15, 16, 17, 300]) {
    const rows = 3000;
    const vocabulary = Object.fromEntries(Array.from({ length: rows }, (_, at) => [`w${at}`, at]));
    const numbers = Float32Array.from({ length: rows * dimensions }, (_, at) => ((at * 7919) % 101) - 50);
    const table = safetensors({ embeddings: { dtype: 'F32', shape: [rows, dimensions], bytes: bytesOf(numbers) } });
    const [vector = []] = await vectorsOf([Object.keys(vocabulary).join(' ')], {
      table,
      tokenizer: tokenizerDefinition(vocabulary),
    });
    const sum = Array.from({ length: dimensions }, (_, column) => {
      let total = 0;
      for (let row = 0; row < rows; row += 1) total += numbers[row * dimensions + column] ?? 0;
      return total;
    });
    const length = Math.hypot(...sum);
    for (const [at, value] of sum.entries()) assert.ok(Math.abs((vector[at] ?? 9) - value / length) < 0.002);
  }
});

test('a static model in a folder is recognised, and runs in a thread without any library', async (t: TestContext) => {
  const { folder, model, files } = await write();
  const home = join(base, 'empty-home');
  assert.equal(await needsModelLibrary({ model, localModelPath: folder }, home), false);
  const options = { home, program, mayDownload: false };
  const embedder = await openChosenModel({ model, localModelPath: folder }, options);
  t.after(() => embedder.dispose());
  assert.match(embedder.id, new RegExp(`^local/${model}@[0-9a-f]{12}$`));
  assert.equal(embedder.dollarsPerMillionTokens, 0);
  assert.deepEqual(Array.from((await embedder.embed(['ship']))[0] ?? []), [1, 0, 0, 0]);

  await mkdir(join(files, 'onnx'));
  assert.equal(await needsModelLibrary({ model, localModelPath: folder }, home), false, 'config.json says what it is');
  await writeFile(join(files, 'config.json'), '{"model_type": "bert"}');
  assert.equal(
    await needsModelLibrary({ model, localModelPath: folder }, home),
    true,
    'a sentence model with both weights',
  );
  assert.equal(await needsModelLibrary({ model: 'absent', localModelPath: folder }, home), true);
  assert.equal(await needsModelLibrary({ model }, home), true, 'a model to be downloaded');
});

test('embedding in the thread can be stopped', async (t) => {
  const embedder = await LocalEmbedder.open({ ...(await write()), library: undefined, download: undefined, program });
  t.after(() => embedder.dispose());
  const stop = new AbortController();
  const texts = Array.from({ length: 20 }, () => 'ship bread '.repeat(100_000));
  const embedded = embedder.embed(texts, { signal: stop.signal });
  setImmediate(() => stop.abort());
  await assert.rejects(embedded, { name: 'AbortError' });
  assert.equal((await embedder.embed(['ship'])).length, 1);
});

test('another table or tokenizer by the same name is another model', async () => {
  const { shape, bytes } = exampleTable();
  const fingerprints = new Set<string>();
  for (const files of [
    undefined,
    { table: safetensors({ embeddings: { dtype: 'F32', shape, bytes: bytes.map((byte) => byte & 0xfe) } }) },
    { tokenizer: tokenizerDefinition({ ship: 2 }) },
  ]) {
    fingerprints.add((await StaticModel.open(await write(files))).fingerprint);
  }
  assert.equal(fingerprints.size, 3);
});

test('links to files are followed, as in the cache of the model hub', {
  skip: process.platform === 'win32',
}, async () => {
  const place = await write();
  for (const file of ['model.safetensors', 'tokenizer.json']) {
    await rename(join(place.files, file), join(place.files, `blob-${file}`));
    await symlink(`blob-${file}`, join(place.files, file));
  }
  assert.deepEqual(Array.from((await (await StaticModel.open(place)).embed(['bread'], {}))[0] ?? []), [0, 1, 0, 0]);
});

const { shape, bytes } = exampleTable();
const table = (changed: Partial<TensorFile> & { readonly data_offsets?: readonly number[] }): Buffer =>
  safetensors({ embeddings: exampleTable() }, ({ embeddings }) => ({ embeddings: { ...embeddings, ...changed } }));
const withLength = (length: bigint): Buffer => {
  const file = safetensors({ embeddings: exampleTable() });
  file.writeBigUInt64LE(length);
  return file;
};
const finite = /embeddings has numbers that are not finite/;
const misplaced = /the numbers of embeddings are not where its header says/;
const notNumbers = (value: number): Buffer =>
  safetensors({
    embeddings: { dtype: 'F32', shape, bytes: bytesOf(new Float32Array(bytes.buffer.slice(0)).fill(value, 5, 6)) },
  });

const BROKEN: readonly (readonly [name: string, file: Buffer, message: RegExp])[] = [
  ['no bytes', Buffer.alloc(0), /its header is too long/],
  ['a header of 16 exabytes', withLength(2n ** 64n - 1n), /its header is too long/],
  ['a header that is longer than the file', withLength(900_000n), /its header is too long/],
  ['a header that is cut', withLength(20n), /its header is not valid JSON/],
  ['a header that is no object', safetensors({}, () => 7), /has no table of vectors by the name of embeddings/],
  [
    'a header with `__proto__`',
    safetensors({}, () => JSON.parse('{"__proto__": {"embeddings": {}}}')),
    /no table of vectors/,
  ],
  ['no table', safetensors({ other: exampleTable() }), /has no table of vectors by the name of embeddings/],
  ['a list instead of a table', table({ shape: [36] }), /has no table of vectors/],
  ['no dimensions', table({ shape: [9, 0], data_offsets: [0, 0] }), /has no table of vectors/],
  ['an unknown type', table({ dtype: 'BF16' }), /the numbers of embeddings have the type "BF16"/],
  ['the name of a property as type', table({ dtype: 'constructor' }), /have the type "constructor"/],
  ['a shape with more numbers than bytes', table({ shape: [1_000_000, 4] }), misplaced],
  ['a shape whose product overflows', table({ shape: [2 ** 52, 2 ** 52] }), misplaced],
  ['a negative shape', table({ shape: [-9, -4] }), misplaced],
  ['offsets beyond the file', table({ data_offsets: [144, 288] }), misplaced],
  ['negative offsets', table({ data_offsets: [-144, 0] }), misplaced],
  ['swapped offsets', table({ data_offsets: [144, 0] }), misplaced],
  ['a fraction of a byte', table({ data_offsets: [0.5, 144.5] }), misplaced],
  ['NaN', notNumbers(NaN), finite],
  ['Infinity', notNumbers(-Infinity), finite],
  [
    'fewer vectors than tokens',
    table({ shape: [8, 4], data_offsets: [0, 128] }),
    /has 9 tokens, but .* has vectors for 8/,
  ],
  [
    'a mapping to a vector that does not exist',
    safetensors({
      embeddings: exampleTable(),
      mapping: { dtype: 'I32', shape: [9], bytes: bytesOf(new Int32Array(9).fill(9)) },
    }),
    /its mapping names vector 9 of 9/,
  ],
  [
    'weights for other tokens',
    safetensors({ embeddings: exampleTable(), weights: { dtype: 'F32', shape: [2], bytes: new Uint8Array(8) } }),
    /its weights are not a list of 9 numbers/,
  ],
];
for (const [name, file, message] of BROKEN) {
  test(`a table with ${name} is refused with the reason`, async () => {
    const place = await write({ table: file });
    await assert.rejects(StaticModel.open(place), { code: 'corrupt', message });
    await assert.rejects(StaticModel.open(place), {
      message: new RegExp(`^The embedding model ${place.model} cannot be used: `),
    });
  });
}

test('vectors whose sum is too large to be a number are no vectors', async () => {
  const large = bytesOf(new Float32Array(36).fill(3e38));
  const vectors = await vectorsOf(['ship bread'], {
    table: safetensors({ embeddings: { dtype: 'F32', shape, bytes: large } }),
  });
  assert.deepEqual(vectors, [[0, 0, 0, 0]]);
});

test('files that are too large, missing, folders, pipes or not JSON are refused', async () => {
  const large = await write();
  await truncate(join(large.files, 'model.safetensors'), 300e6);
  await assert.rejects(StaticModel.open(large), {
    code: 'limit',
    message: /model\.safetensors has 300 MB, and at most 256 MB/,
  });
  const many = await write();
  await truncate(join(many.files, 'tokenizer.json'), 200e6);
  await assert.rejects(StaticModel.open(many), {
    code: 'limit',
    message: /tokenizer\.json has 200 MB, and at most 32 MB/,
  });
  const wide = await write({
    table: safetensors({ embeddings: { dtype: 'I8', shape: [64_000_001, 1], bytes: new Uint8Array(64_000_001) } }),
  });
  await assert.rejects(StaticModel.open(wide), { code: 'limit', message: /64000001 numbers, and at most 64000000/ });
  await rm(wide.files, { recursive: true });

  const missing = await write();
  await rm(join(missing.files, 'tokenizer.json'));
  await assert.rejects(StaticModel.open(missing), { code: 'missing', message: /tokenizer\.json could not be read/ });
  await mkdir(join(missing.files, 'tokenizer.json'));
  await assert.rejects(StaticModel.open(missing), { code: 'missing' });
  await rm(join(missing.files, 'tokenizer.json'), { recursive: true });
  await writeFile(join(missing.files, 'tokenizer.json'), '{"model": ');
  await assert.rejects(StaticModel.open(missing), { code: 'corrupt', message: /tokenizer\.json is not valid JSON/ });
  if (process.platform === 'win32') return;
  await rm(join(missing.files, 'tokenizer.json'));
  execFileSync('mkfifo', [join(missing.files, 'tokenizer.json')]);
  await assert.rejects(StaticModel.open(missing), { code: 'missing', message: /is not a file/ });
});
