// Static models in model2vec's format, written as their files.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Words of one meaning have the same vector, `[UNK]` one that would be seen in a mean.
const VECTORS: Readonly<Record<string, readonly number[]>> = {
  '[PAD]': [9, 9, 9, 9],
  '[UNK]': [0, 0, 0, 9],
  ship: [2, 0, 0, 0],
  boat: [2, 0, 0, 0],
  bread: [0, 1, 0, 0],
  loaf: [0, 1, 0, 0],
  oven: [0, 0, 3, 0],
  '##s': [0, 0, 1, 0],
  '.': [0, 0, 0, 0],
};
const VOCABULARY: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(VECTORS).map((word, id) => [word, id]),
);

export interface TensorFile {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The table of the words above. */
export function exampleTable(): TensorFile {
  const vectors = Object.values(VECTORS);
  return { dtype: 'F32', shape: [vectors.length, 4], bytes: bytesOf(Float32Array.from(vectors.flat())) };
}

export function bytesOf({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** A file in the safetensors format. `changed` makes another header of the right one. */
export function safetensors(
  tensors: Readonly<Record<string, TensorFile>>,
  changed: (header: Record<string, Record<string, unknown>>) => unknown = (header) => header,
): Buffer {
  const header: Record<string, Record<string, unknown>> = {};
  let at = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, (at += bytes.length)] };
  }
  const text = Buffer.from(JSON.stringify(changed(header)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...Object.values(tensors).map(({ bytes }) => bytes)]);
}

/** A `tokenizer.json` of Hugging Face's tokenizers, as BERT's. */
export function tokenizerDefinition(
  vocab: Readonly<Record<string, number>> = VOCABULARY,
  { model = {}, normalizer = {} }: { readonly model?: object; readonly normalizer?: object } = {},
) {
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
      ...normalizer,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
      ...model,
    },
  };
}

/** Writes a model's files to `folder`; without any given, one that knows the words above. */
export async function writeStaticModel(
  folder: string,
  {
    table = safetensors({ embeddings: exampleTable() }),
    tokenizer = tokenizerDefinition(),
  }: { readonly table?: Uint8Array; readonly tokenizer?: object } = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'model.safetensors'), table);
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(folder, 'config.json'), JSON.stringify({ model_type: 'model2vec', normalize: true }));
}
