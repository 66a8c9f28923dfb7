// Instructions of WebAssembly (Core Specification 2.0, with its SIMD instructions) as functions, for programs so small that they
// do not justify a compiler in the build.

/** Instructions, of which some may lie together in further ones; as a value, those that leave it on the stack. */
export type Code = readonly (number | Code)[];
/** A value of 32 bits, or a constant. */
export type Value = Code | number;
/** A parameter or local variable; by itself its value. */
export type Local = readonly number[];
export type ValueType = typeof I32 | typeof I64 | typeof F64 | typeof V128;

export const I32 = 0x7f;
export const I64 = 0x7e;
export const F64 = 0x7c;
export const V128 = 0x7b;
const VOID = 0x40;
export const END = 0x0b;
const LOCAL_SET = 0x21;

/** Numbers of seven bits a byte, the lowest first (LEB128). */
export function unsigned(value: number): readonly number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: bigint): readonly number[] {
  const isLast = value >= -64n && value < 64n;
  const low = Number(value & 127n);
  return isLast ? [low] : [low | 128, ...signed(value >> 7n)];
}

export const valueOf = (value: Value): Code => (typeof value === 'number' ? [0x41, signed(BigInt(value))] : value);

function binary(instruction: number) {
  return (left: Value, right: Value): Code => [valueOf(left), valueOf(right), instruction];
}

export const add = binary(0x6a);
export const subtract = binary(0x6b);
export const multiply = binary(0x6c);
export const divide = binary(0x6e);
export const and = binary(0x71);
export const or = binary(0x72);
export const shiftLeft = binary(0x74);
export const shiftRight = binary(0x76);
export const isEqual = binary(0x46);
export const isLess = binary(0x49);
export const isNotZero = (value: Value): Code => [valueOf(value), 0x45, 0x45];
export const isZero = (value: Value): Code => [valueOf(value), 0x45];
/** How many zeros come before the highest one. */
export const leadingZeros = (value: Value): Code => [valueOf(value), 0x67];
/** The smaller of two locals or constants. */
export const least = (left: Value, right: Value): Code => choose(isLess(left, right), left, right);

export const load = (address: Value, offset = 0): Code => [valueOf(address), 0x28, 2, unsigned(offset)];
export const load8 = (address: Value, offset = 0): Code => [valueOf(address), 0x2d, 0, unsigned(offset)];
export const load16 = (address: Value, offset = 0): Code => [valueOf(address), 0x2f, 1, unsigned(offset)];
export const store = (address: Value, value: Value, offset = 0): Code => [
  valueOf(address),
  valueOf(value),
  0x36,
  2,
  unsigned(offset),
];
export const store16 = (address: Value, value: Value, offset = 0): Code => [
  valueOf(address),
  valueOf(value),
  0x3b,
  1,
  unsigned(offset),
];

export const store8 = (address: Value, value: Value, offset = 0): Code => [
  valueOf(address),
  valueOf(value),
  0x3a,
  0,
  unsigned(offset),
];

/** The same on values of 64 bits. */
export const long = {
  constant: (value: bigint): Code => [0x42, signed(BigInt.asIntN(64, value))],
  load: (address: Value, offset = 0): Code => [valueOf(address), 0x29, 0, unsigned(offset)],
  store: (address: Value, value: Code, offset = 0): Code => [valueOf(address), value, 0x37, 0, unsigned(offset)],
  and: (left: Code, right: Code): Code => [left, right, 0x83],
  or: (left: Code, right: Code): Code => [left, right, 0x84],
  xor: (left: Code, right: Code): Code => [left, right, 0x85],
  subtract: (left: Code, right: Code): Code => [left, right, 0x7d],
  multiply: (left: Code, right: Code): Code => [left, right, 0x7e],
  shiftLeft: (value: Code, by: Code): Code => [value, by, 0x86],
  shiftRight: (value: Code, by: Code): Code => [value, by, 0x88],
  isEqual: (left: Code, right: Code): Code => [left, right, 0x51],
  isLess: (left: Code, right: Code): Code => [left, right, 0x54],
  isNotZero: (value: Code): Code => [value, 0x50, 0x45],
  /** How many zeros come before the lowest one. */
  trailingZeros: (value: Code): Code => [value, 0x7a],
  ones: (value: Code): Code => [value, 0x7b],
  /** The lower half. */
  low: (value: Code): Code => [value, 0xa7],
  fromLow: (value: Value): Code => [valueOf(value), 0xad],
};

/** The same on floating-point numbers of 64 bits. */
export const float = {
  constant: (value: number): Code => [0x44, [...new Uint8Array(Float64Array.of(value).buffer)]],
  add: (left: Code, right: Code): Code => [left, right, 0xa0],
  multiply: (left: Code, right: Code): Code => [left, right, 0xa2],
  divide: (left: Code, right: Code): Code => [left, right, 0xa3],
  least: (left: Code, right: Code): Code => [left, right, 0xa4],
  from: (value: Value): Code => [valueOf(value), 0xb8],
  /** Without what is behind the point; it must fit. */
  whole: (value: Code): Code => [value, 0xab],
};

/** Copies so many bytes. */
export const copy = (to: Value, from: Value, size: Value): Code => [
  valueOf(to),
  valueOf(from),
  valueOf(size),
  0xfc,
  unsigned(0x0a),
  0,
  0,
];

const simd = (instruction: number): Code => [0xfd, unsigned(instruction)];

/** The same on vectors of 16 bytes. */
export const vector = {
  constant: (bytes: readonly number[]): Code => [simd(0x0c), bytes],
  load: (address: Value, offset = 0): Code => [valueOf(address), simd(0x00), 0, unsigned(offset)],
  store: (address: Value, value: Code, offset = 0): Code => [valueOf(address), value, simd(0x0b), 0, unsigned(offset)],
  and: (left: Code, right: Code): Code => [left, right, simd(0x4e)],
  shiftRight: (value: Code, by: number): Code => [value, valueOf(by), simd(0x6d)],
  /** Its lower or upper eight bytes. */
  half: (value: Code, index: 0 | 1): Code => [value, simd(0x1d), index],
  /** Of each byte of `index` the byte of `table` that it counts. */
  lookUp: (table: Code, index: Code): Code => [table, index, simd(0x0e)],
  /** A bit for each byte: whether it is not the same. */
  differences: (left: Code, right: Code): Code => [left, right, simd(0x24), simd(0x64)],
};

export const set = (local: Local, value: Value): Code => [valueOf(value), LOCAL_SET, local.slice(1)];
export const increase = (local: Local, by: Value): Code => set(local, add(local, by));
export const when = (condition: Code, ...then: Code[]): Code => [condition, 0x04, VOID, then, END];
/** One of two values, both of which are computed. */
export const choose = (condition: Code, then: Value, otherwise: Value): Code => [
  valueOf(then),
  valueOf(otherwise),
  condition,
  0x1b,
];
export const repeatWhile = (condition: Code, ...body: Code[]): Code => [
  0x03,
  VOID,
  condition,
  0x04,
  VOID,
  body,
  0x0c,
  1,
  END,
  END,
];

export const repeatUntil = (condition: Code, ...body: Code[]): Code => [
  0x03,
  VOID,
  body,
  isZero(condition),
  0x0d,
  0,
  END,
];
