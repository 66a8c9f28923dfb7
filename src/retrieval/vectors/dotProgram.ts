// A WebAssembly module (WebAssembly Core Specification 2.0, with its SIMD instructions) that multiplies one vector with many.
// It is put together here from its instructions, since 500 bytes do not justify a compiler in the build.

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const I32 = 0x7f;
const V128 = 0x7b;
const VOID = 0x40;
const LANES = [0, 1, 2, 3] as const;

/** Rows that one step takes together, so that the query is loaded once for all of them. */
export const ROWS_PER_STEP = 4;
/** Numbers that one step takes of a row: rows are filled up with zeros to a multiple of this. */
export const NUMBERS_PER_STEP = 8;

type Code = readonly number[];

function leb(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}

const sized = (bytes: Code): Code => [...leb(bytes.length), ...bytes];
const list = (items: readonly Code[]): Code => [...leb(items.length), ...items.flat()];
const section = (id: number, bytes: Code): Code => [id, ...sized(bytes)];
const text = (value: string): Code => sized([...Buffer.from(value)]);

const get = (local: number): Code => [0x20, ...leb(local)];
const set = (local: number): Code => [0x21, ...leb(local)];
const constant = (value: number): Code => [0x41, ...leb(value)]; // below 64, where signed and unsigned are the same
const ADD: Code = [0x6a];
const SHIFT_LEFT: Code = [0x74];
const LESS_THAN: Code = [0x49];
const END: Code = [0x0b];
const REPEAT_IF: Code = [0x0d, 0];
const loop = (...body: Code[]): Code => [0x03, VOID, ...body.flat(), ...REPEAT_IF, ...END];
const simd = (instruction: number, ...rest: number[]): Code => [0xfd, ...leb(instruction), ...rest];
const LOAD = simd(0x00, 3, 0); // v128.load, aligned to 8
const LOAD_8_AS_16 = simd(0x01, 3, 0); // v128.load8x8_s, aligned to 8
const LOAD_BYTE: Code = [0x2d, 0, 0]; // i32.load8_u
const DROP: Code = [0x1a];
const ZERO = simd(0x0c, ...Array.from({ length: 16 }, () => 0));
const ADD_LANES = simd(0xae); // i32x4.add
const MULTIPLY_AND_ADD = simd(0xba); // i32x4.dot_i16x8_s
const lane = (at: number): Code => simd(0x1b, at); // i32x4.extract_lane
const store = (offset: number): Code => [0x36, 2, ...leb(offset)];

// dots(query, rows, rowsEnd, stride, out): the parameters, then what the loops count with.
const [QUERY, ROWS, ROWS_END, STRIDE, OUT] = [0, 1, 2, 3, 4];
const [AT, QUERY_AT, QUERY_END, STRIDE_2, STRIDE_3] = [5, 6, 7, 8, 9];
// Processors do not read ahead over the borders of memory pages. So one byte of what the next step needs is loaded at a time,
// for nothing but to have it in the cache then: a fifth less time where the rows are larger than the cache.
const NEXT = 10;
const [SUM, NUMBERS] = [11, 15];
const ADDRESSES: readonly Code[] = [
  get(AT),
  [...get(AT), ...get(STRIDE), ...ADD],
  [...get(AT), ...get(STRIDE_2), ...ADD],
  [...get(AT), ...get(STRIDE_3), ...ADD],
];
const STEP_BYTES: Code = [...get(STRIDE_3), ...get(STRIDE), ...ADD];
const advance = (local: number, by: Code): Code => [...get(local), ...by, ...ADD, ...set(local)];

const BODY: readonly Code[] = [
  [...get(STRIDE), ...constant(1), ...SHIFT_LEFT, ...set(STRIDE_2)],
  [...get(STRIDE), ...get(STRIDE_2), ...ADD, ...set(STRIDE_3)],
  [...get(QUERY), ...get(STRIDE_2), ...ADD, ...set(QUERY_END)], // two bytes for each of its numbers
  loop(
    ...LANES.map((row) => [...ZERO, ...set(SUM + row)]),
    [...get(ROWS), ...set(AT), ...get(QUERY), ...set(QUERY_AT)],
    [...get(ROWS), ...STEP_BYTES, ...ADD, ...set(NEXT)],
    loop(
      [...get(QUERY_AT), ...LOAD, ...set(NUMBERS)],
      ...LANES.map((row) => [
        ...get(SUM + row),
        ...(ADDRESSES[row] ?? []),
        ...LOAD_8_AS_16,
        ...get(NUMBERS),
        ...MULTIPLY_AND_ADD,
        ...ADD_LANES,
        ...set(SUM + row),
      ]),
      [...get(NEXT), ...LOAD_BYTE, ...DROP],
      advance(NEXT, constant(ROWS_PER_STEP * NUMBERS_PER_STEP)),
      advance(AT, constant(NUMBERS_PER_STEP)),
      advance(QUERY_AT, constant(2 * NUMBERS_PER_STEP)),
      [...get(QUERY_AT), ...get(QUERY_END), ...LESS_THAN],
    ),
    ...LANES.map((row) => {
      const parts = LANES.map((at) => [...get(SUM + row), ...lane(at)]);
      return [...get(OUT), ...parts.flat(), ...ADD, ...ADD, ...ADD, ...store(4 * row)];
    }),
    advance(ROWS, STEP_BYTES),
    advance(OUT, constant(4 * ROWS_PER_STEP)),
    [...get(ROWS), ...get(ROWS_END), ...LESS_THAN],
  ),
];

const LOCALS: readonly Code[] = [
  [6, I32],
  [5, V128],
];

/**
 * The bytes of a module that imports `env.memory` and exports `dots(query, rows, rowsEnd, stride, out)`, all of them addresses but
 * the stride: writes for each row of signed bytes its product with the query of signed 16-bit numbers, as a signed 32-bit number.
 * `stride` is the length of a row, a multiple of 8; there are a multiple of 4 rows, at least 4, with memory for 4 more behind them.
 */
export const DOT_PROGRAM: Uint8Array<ArrayBuffer> = Uint8Array.from([
  ...MAGIC_AND_VERSION,
  ...section(1, list([[0x60, ...list(Array.from({ length: 5 }, () => [I32])), 0]])),
  ...section(2, list([[...text('env'), ...text('memory'), 0x02, 0x00, 1]])),
  ...section(3, list([[0]])),
  ...section(7, list([[...text('dots'), 0x00, 0]])),
  ...section(10, list([sized([...list(LOCALS), ...BODY.flat(), ...END])])),
]);
