import { AppError } from '../../../core/errors.ts';
import { fieldOf } from '../../../core/jsonFields.ts';

// The format allows 100 MB. A model with a table of vectors needs 200 bytes.
const MOST_HEADER_BYTES = 1_000_000;
// 256 MB in memory; the largest models with few words have half of that.
const MOST_NUMBERS = 64_000_000;
const LENGTH_BYTES = 8;

// The bytes of a number, by the names that the format gives to types.
const SIZES = { F64: 8, F32: 4, F16: 2, I64: 8, I32: 4, I8: 1 } as const;
type NumberType = keyof typeof SIZES;

const READERS: Readonly<Record<NumberType, (view: DataView, at: number) => number>> = {
  F64: (view, at) => view.getFloat64(at, true),
  F32: (view, at) => view.getFloat32(at, true),
  F16: (view, at) => halfFloat(view.getUint16(at, true)),
  I64: (view, at) => Number(view.getBigInt64(at, true)),
  I32: (view, at) => view.getInt32(at, true),
  I8: (view, at) => view.getInt8(at),
};

/** Numbers of a model: a list, or a table row by row. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly numbers: Float32Array;
}

/**
 * Reads tensors of a file in the safetensors format: the length of a header, the
 * header in JSON, then the numbers. All numbers become 32-bit floats.
 */
export class Safetensors {
  readonly #bytes: Buffer;
  readonly #header: unknown;
  readonly #dataAt: number;

  /** @throws AppError `corrupt` if the header is not valid. */
  constructor(bytes: Buffer) {
    const length = bytes.length < LENGTH_BYTES ? Infinity : Number(bytes.readBigUInt64LE());
    this.#dataAt = LENGTH_BYTES + length;
    if (length > MOST_HEADER_BYTES || this.#dataAt > bytes.length) throw corrupt('its header is too long');
    this.#bytes = bytes;
    try {
      this.#header = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, this.#dataAt));
    } catch (cause) {
      throw corrupt('its header is not valid JSON', cause);
    }
  }

  /**
   * A tensor by its name; undefined if the file has none.
   *
   * @throws AppError `limit` if it is too large, `corrupt` if it does not fit the file, has a type that is not supported, or numbers that
   * are not finite.
   */
  tensor(name: string): Tensor | undefined {
    const entry = fieldOf(this.#header, name);
    if (entry === undefined) return undefined;
    const type = fieldOf(entry, 'dtype');
    if (!isSupported(type)) throw corrupt(`the numbers of ${name} have the type ${JSON.stringify(type)}`);
    const shape = naturalNumbers(fieldOf(entry, 'shape'));
    const [from = NaN, to = NaN] = naturalNumbers(fieldOf(entry, 'data_offsets')) ?? [];
    const count = shape?.reduce((product, size) => product * size, 1) ?? NaN;
    if (shape === undefined || to - from !== count * SIZES[type] || this.#dataAt + to > this.#bytes.length) {
      throw corrupt(`the numbers of ${name} are not where its header says`);
    }
    if (count > MOST_NUMBERS)
      throw new AppError('limit', `${name} has ${count} numbers, and at most ${MOST_NUMBERS} are supported.`);
    const { buffer, byteOffset } = this.#bytes;
    const view = new DataView(buffer, byteOffset + this.#dataAt + from, to - from);
    const read = READERS[type];
    const numbers = new Float32Array(count);
    for (let index = 0, at = 0; index < count; index += 1, at += SIZES[type]) numbers[index] = read(view, at);
    if (!numbers.every(Number.isFinite)) throw corrupt(`${name} has numbers that are not finite`);
    return { shape, numbers };
  }
}

function isSupported(type: unknown): type is NumberType {
  return typeof type === 'string' && Object.hasOwn(SIZES, type);
}

function naturalNumbers(value: unknown): readonly number[] | undefined {
  const isNatural = (number: unknown): number is number => Number.isSafeInteger(number) && Number(number) >= 0;
  return Array.isArray(value) && value.every(isNatural) ? value : undefined;
}

/** IEEE 754 binary16. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function corrupt(reason: string, cause?: unknown): AppError {
  return new AppError('corrupt', `model.safetensors is damaged or not supported: ${reason}.`, { cause });
}
