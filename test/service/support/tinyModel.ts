// A sentence model of a few words, written as the files that the real library loads: the graph looks up a row of numbers for
// each word, and the library takes their mean.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Words of one meaning have the same numbers.
const ROWS: Readonly<Record<string, readonly number[]>> = {
  '[PAD]': [9, 9, 9, 9],
  '[UNK]': [0, 0, 0, 1],
  ship: [1, 0, 0, 0],
  boat: [1, 0, 0, 0],
  bread: [0, 1, 0, 0],
  loaf: [0, 1, 0, 0],
  oven: [0, 0.6, 0.8, 0],
};
const NUMBERS = 4;
const [FLOAT, INT64] = [1, 7]; // TensorProto.DataType of ONNX

/** What the model gives for a text: the mean of its words, of length 1. */
export function expectedVector(text: string): number[] {
  const rows = (text.toLowerCase().match(/\w+/g) ?? []).map((word) => ROWS[word] ?? ROWS['[UNK]'] ?? []);
  const sum = Array.from({ length: NUMBERS }, (_, at) => rows.reduce((total, row) => total + (row[at] ?? 0), 0));
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}

/** Writes the model's files to `folder`, which is then the model. `factor` makes it another model by the same name. */
export async function writeTinyModel(folder: string, { factor = 1, name = 'model.onnx' } = {}): Promise<void> {
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await writeFile(join(folder, 'onnx', name), onnxModel(factor));
  const vocab = Object.fromEntries(Object.keys(ROWS).map((word, index) => [word, index]));
  const files = {
    'config.json': { model_type: 'bert', hidden_size: NUMBERS, vocab_size: Object.keys(ROWS).length },
    'tokenizer_config.json': {
      tokenizer_class: 'PreTrainedTokenizerFast',
      pad_token: '[PAD]',
      unk_token: '[UNK]',
      model_max_length: 512,
    },
    'tokenizer.json': {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [],
      normalizer: { type: 'Lowercase' },
      pre_tokenizer: { type: 'Whitespace' },
      post_processor: null,
      decoder: null,
      model: { type: 'WordLevel', vocab, unk_token: '[UNK]' },
    },
  };
  for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), JSON.stringify(content));
}

// ONNX files are protocol buffers; the numbers are those of the fields in onnx.proto.
function onnxModel(factor: number): Uint8Array {
  const rows = Object.values(ROWS);
  const numbers = Float32Array.from(rows.flat(), (value) => value * factor);
  const graph = [
    message(1, text(1, 'rows'), text(1, 'input_ids'), text(2, 'last_hidden_state'), text(4, 'Gather')),
    text(2, 'tiny'),
    message(
      5,
      number(1, rows.length),
      number(1, NUMBERS),
      number(2, FLOAT),
      text(8, 'rows'),
      bytes(9, Buffer.from(numbers.buffer)),
    ),
    tensor(11, 'input_ids', INT64, 'batch', 'sequence'),
    tensor(11, 'attention_mask', INT64, 'batch', 'sequence'),
    tensor(12, 'last_hidden_state', FLOAT, 'batch', 'sequence', NUMBERS),
  ];
  const operators = message(8, text(1, ''), number(2, 13));
  return Buffer.concat([number(1, 8), message(7, ...graph), operators]);
}

function tensor(field: number, name: string, type: number, ...shape: (string | number)[]): Buffer {
  const dimensions = shape.map((size) => message(1, typeof size === 'number' ? number(1, size) : text(2, size)));
  return message(field, text(1, name), message(2, message(1, number(1, type), message(2, ...dimensions))));
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

const number = (field: number, value: number): Buffer => Buffer.from([...varint(field << 3), ...varint(value)]);
const bytes = (field: number, value: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(value.length)]), value]);
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));
const message = (field: number, ...parts: Buffer[]): Buffer => bytes(field, Buffer.concat(parts));
