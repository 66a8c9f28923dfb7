import { maskedChecksum } from '../../../../src/jobs/metrics/eventFile.ts';

/** A field of a message: a number or bytes. */
export function field(number: number, value: number | Buffer): Buffer {
  return typeof value === 'number'
    ? Buffer.concat([varint(number * 8), varint(value)])
    : Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

/** A field of a message with a float. */
export function float(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint(number * 8 + 5), bytes]);
}

/** A TensorBoard event with values at a step. */
export function event(step: number, ...values: readonly Buffer[]): Buffer {
  const summary = Buffer.concat(values.map((value) => field(1, value)));
  return record(Buffer.concat([field(2, step), field(5, summary)]));
}

/** A value as TensorFlow 1 and PyTorch write it. */
export function scalar(tag: string, value: number): Buffer {
  return Buffer.concat([field(1, Buffer.from(tag)), float(2, value)]);
}

export function record(data: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(data.length));
  return Buffer.concat([length, checksum(length), data, checksum(data)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(maskedChecksum(bytes));
  return sum;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
