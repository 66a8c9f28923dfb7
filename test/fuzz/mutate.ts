import { type Below } from '../random.ts';

const MAX_BYTES = 64 * 1024;
/** Bytes and numbers at the edges of what readers expect. */
const EDGES = [
  '\0',
  '\xff',
  '\x7f',
  '\x80',
  '\r',
  '\n',
  '\r\n',
  '\u2028',
  '\ufeff',
  '-1',
  '0',
  '4294967296',
  '1e999',
].map((text) => Buffer.from(text));

/** What one step of a mutation works with. */
interface Material {
  readonly random: Below;
  readonly samples: readonly Buffer[];
  readonly words: readonly Buffer[];
}

type Mutation = (input: Buffer, material: Material) => Buffer;

const flipBit: Mutation = (input, { random }) => {
  const copy = Buffer.from(input);
  const at = random(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
  return copy;
};
const setByte: Mutation = (input, { random }) => {
  const copy = Buffer.from(input);
  copy[random(copy.length)] = random(256);
  return copy;
};
const insert =
  (choose: (material: Material) => readonly Buffer[]): Mutation =>
  (input, material) => {
    const { random } = material;
    const pieces = choose(material);
    const at = random(input.length + 1);
    return Buffer.concat([input.subarray(0, at), pieces[random(pieces.length)] ?? Buffer.alloc(0), input.subarray(at)]);
  };
const remove: Mutation = (input, { random }) => {
  const [from, to] = range(input, random);
  return Buffer.concat([input.subarray(0, from), input.subarray(to)]);
};
const truncate: Mutation = (input, { random }) => input.subarray(0, random(input.length + 1));
const repeat: Mutation = (input, { random }) => {
  const [from, to] = range(input, random);
  const times = 1 + random(2 ** random(10));
  return Buffer.concat([
    input.subarray(0, to),
    ...Array<Buffer>(times).fill(input.subarray(from, to)),
    input.subarray(to),
  ]);
};
const move: Mutation = (input, { random }) => {
  const [from, to] = range(input, random);
  const rest = Buffer.concat([input.subarray(0, from), input.subarray(to)]);
  const at = random(rest.length + 1);
  return Buffer.concat([rest.subarray(0, at), input.subarray(from, to), rest.subarray(at)]);
};
const splice: Mutation = (input, { random, samples }) => {
  const other = samples[random(samples.length)] ?? input;
  return Buffer.concat([input.subarray(0, random(input.length + 1)), other.subarray(random(other.length + 1))]);
};

const MUTATIONS: readonly Mutation[] = [
  flipBit,
  setByte,
  insert(({ words }) => words),
  insert(({ words }) => words),
  insert(() => EDGES),
  remove,
  truncate,
  repeat,
  move,
  splice,
];

/** One of the samples, changed in one to eight places; at most 64 KB. The same random numbers give the same bytes. */
export function mutate(material: Material): Buffer {
  const { random, samples } = material;
  let input = samples[random(samples.length)] ?? Buffer.alloc(0);
  for (let count = 1 + random(8); count > 0; count -= 1) {
    const mutation = MUTATIONS[random(MUTATIONS.length)] ?? flipBit;
    input = mutation(input, material).subarray(0, MAX_BYTES);
  }
  return input;
}

function range(input: Buffer, random: Below): [from: number, to: number] {
  const from = random(input.length + 1);
  return [from, Math.min(input.length, from + 1 + random(2 ** random(12)))];
}
