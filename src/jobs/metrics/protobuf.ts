/** A field of a message: a number of 32 bits or less, or bytes. */
export interface ProtobufField {
  readonly number: number;
  readonly type: 'varint' | 'fixed64' | 'bytes' | 'fixed32';
  readonly bytes: Uint8Array;
}

const TYPES = { 0: 'varint', 1: 'fixed64', 2: 'bytes', 5: 'fixed32' } as const;
const MAX_VARINT_BYTES = 10;

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
