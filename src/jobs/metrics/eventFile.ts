import type { MetricTable } from './metricTable.ts';

// A scalar takes about 100 bytes; larger records are images, histograms and graphs.
const MAX_RECORD_BYTES = 64 * 1024;
const DT_FLOAT = 1;
const DT_DOUBLE = 2;

// TFRecord: a length (64 bits, little-endian), the masked CRC-32C of those 8 bytes, the data, and the masked CRC-32C of the data.
// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
const HEADER_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MASK_DELTA = 0xa282ead8;

// Reflected polynomial of CRC-32C (RFC 3720, section 12.1).
const POLYNOMIAL = 0x82f63b78;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});
const TYPES = { 0: 'varint', 1: 'fixed64', 2: 'bytes', 5: 'fixed32' } as const;
const MAX_VARINT_BYTES = 10;

/** A field of a message: a number of 32 bits or less, or bytes. */
interface ProtobufField {
  readonly number: number;
  readonly type: 'varint' | 'fixed64' | 'bytes' | 'fixed32';
  readonly bytes: Uint8Array;
}

/**
 * Adds the scalars of a TensorBoard event file, as TensorFlow 1 and 2, PyTorch and tensorboardX write them. Fields are those of event.proto,
 * summary.proto and tensor.proto of TensorFlow. What is damaged is left out.
 *
 * @param prefix of names.
 */
export async function readEventFile(
  chunks: AsyncIterable<Uint8Array>,
  table: MetricTable,
  prefix: string,
): Promise<void> {
  for await (const record of readEventRecords(chunks, MAX_RECORD_BYTES)) {
    let step = 0;
    const summaries: Uint8Array[] = [];
    for (const field of readFields(record)) {
      if (field.number === 2 && field.type === 'varint') step = varintOf(field);
      if (field.number === 5 && field.type === 'bytes') summaries.push(field.bytes);
    }
    for (const summary of summaries) {
      for (const field of readFields(summary)) {
        if (field.number === 1 && field.type === 'bytes') addValue(field.bytes, step, table, prefix);
      }
    }
  }
}

/** `Summary.Value`: a tag, and a number or a tensor with one. */
function addValue(message: Uint8Array, step: number, table: MetricTable, prefix: string): void {
  let tag = '';
  let value: number | undefined;
  for (const field of readFields(message)) {
    if (field.number === 1 && field.type === 'bytes') tag = Buffer.from(field.bytes).toString();
    if (field.number === 2 && field.type === 'fixed32') value = floatOf(field.bytes);
    if (field.number === 8 && field.type === 'bytes') value = scalarOf([...readFields(field.bytes)]);
  }
  if (tag !== '' && value !== undefined) table.add(prefix + tag, step, value);
}

/** The number in a `TensorProto` with exactly one. */
function scalarOf(fields: readonly ProtobufField[]): number | undefined {
  const type = fields.find((field) => field.number === 1 && field.type === 'varint');
  const dtype = type === undefined ? undefined : varintOf(type);
  // `tensor_content`, or a packed or single `float_val` or `double_val`.
  const content = fields.find(({ number }) => number === 4 || number === 5 || number === 6)?.bytes;
  if (dtype === DT_FLOAT && content?.length === 4) return floatOf(content);
  if (dtype === DT_DOUBLE && content?.length === 8) return view(content).getFloat64(0, true);
  return undefined;
}

function floatOf(bytes: Uint8Array): number {
  return view(bytes).getFloat32(0, true);
}

function view({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

/**
 * Yields the records of a TensorBoard event file. Records over `maxBytes`, such as images, and those whose checksum is wrong are skipped. An
 * incomplete last record and all that follows a damaged length are ignored.
 */
export async function* readEventRecords(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let bytes = Buffer.alloc(0);
  let toSkip = 0;
  for await (const chunk of chunks) {
    const skipped = Math.min(toSkip, chunk.length);
    toSkip -= skipped;
    bytes = Buffer.concat([bytes, chunk.subarray(skipped)]);
    let start = 0;
    while (bytes.length - start >= HEADER_BYTES) {
      const header = bytes.subarray(start, start + HEADER_BYTES);
      if (maskedChecksum(header.subarray(0, 8)) !== header.readUInt32LE(8)) return;
      const length = Number(header.readBigUInt64LE(0));
      const end = start + HEADER_BYTES + length + CHECKSUM_BYTES;
      if (length > maxBytes) {
        toSkip = Math.max(0, end - bytes.length);
        start = Math.min(end, bytes.length);
        continue;
      }
      if (bytes.length < end) break;
      const data = bytes.subarray(start + HEADER_BYTES, start + HEADER_BYTES + length);
      if (maskedChecksum(data) === bytes.readUInt32LE(end - CHECKSUM_BYTES)) yield data;
      start = end;
    }
    bytes = bytes.subarray(start);
  }
}

/** The CRC-32C, rotated and shifted as TFRecord stores it. */
export function maskedChecksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

/**
 * Yields the fields of a Protocol Buffers message. Stops at the first that is damaged or of a deprecated type.
 * https://protobuf.dev/programming-guides/encoding/
 */
export function* readFields(message: Uint8Array): Generator<ProtobufField, void> {
  let at = 0;
  while (at < message.length) {
    const key = readVarint(message, at);
    if (key === undefined) return;
    at = key.end;
    const type = typeOf(key.value & 7n);
    const length = type === undefined ? undefined : lengthOf(type, message, at);
    if (type === undefined || length === undefined || length.end > message.length) return;
    yield { number: Number(key.value >> 3n), type, bytes: message.subarray(length.start, length.end) };
    at = length.end;
  }
}

/** The value of a field with a variable length, as a signed number of 64 bits. */
export function varintOf({ bytes }: ProtobufField): number {
  return Number(BigInt.asIntN(64, readVarint(bytes, 0)?.value ?? 0n));
}

function typeOf(wireType: bigint): ProtobufField['type'] | undefined {
  return Object.entries(TYPES).find(([each]) => BigInt(each) === wireType)?.[1];
}

/** Where the bytes of a field are. */
function lengthOf(
  type: ProtobufField['type'],
  message: Uint8Array,
  at: number,
): { readonly start: number; readonly end: number } | undefined {
  if (type === 'fixed64') return { start: at, end: at + 8 };
  if (type === 'fixed32') return { start: at, end: at + 4 };
  const varint = readVarint(message, at);
  if (varint === undefined) return undefined;
  if (type === 'varint') return { start: at, end: varint.end };
  return { start: varint.end, end: varint.end + Number(varint.value) };
}

function readVarint(bytes: Uint8Array, start: number): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n;
  for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  return undefined;
}
