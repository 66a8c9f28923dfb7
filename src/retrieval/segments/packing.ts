import type { ByteWriter } from './bytes.ts';

/** So many numbers are packed together at most. */
export const MOST_PACKED = 128;
// What is wider goes behind the others, so that four bytes hold a number wherever its first bit lies in the first of them.
const MOST_WIDTH = 24;
/** Bytes that must be there behind what was packed: numbers are read by eight, and those by two words of four bytes. */
export const PADDING = 8;
// A place in a byte, and up to two bytes of what did not fit, or five.
const EXCEPTION_BYTES = 6;

/**
 * Packs numbers that are mostly small: all in as few bits as make the whole shortest, and for each that does not fit its place and
 * its higher bits behind them (Zukowski and others, "Super-Scalar RAM-CPU Cache Compression", 2006). Unpacking has no branches that
 * depend on the numbers, which a processor would guess wrong.
 */
export class Packer {
  readonly #widths = new Uint8Array(33);

  /** Packs the first `count` of the numbers. */
  pack(writer: ByteWriter, numbers: Uint32Array, count: number): void {
    const { width, exceptions } = this.#choose(numbers, count);
    const bytes = writer.reserve(2 + ((count * width + 7) >> 3) + exceptions * EXCEPTION_BYTES);
    let end = writer.length;
    bytes[end++] = width;
    bytes[end++] = exceptions;
    const mask = 2 ** width - 1;
    let [pending, bits] = [0, 0];
    for (let at = 0; at < count; at += 1) {
      pending |= ((numbers[at] ?? 0) & mask) << bits;
      for (bits += width; bits >= 8; bits -= 8) {
        bytes[end++] = pending;
        pending >>>= 8;
      }
    }
    if (bits > 0) bytes[end++] = pending;
    if (exceptions > 0) end = writeExceptions(bytes, end, numbers, count, width);
    writer.wrote(end);
  }

  #choose(numbers: Uint32Array, count: number): { readonly width: number; readonly exceptions: number } {
    const widths = this.#widths.fill(0);
    let widest = 0;
    for (let at = 0; at < count; at += 1) {
      const own = 32 - Math.clz32(numbers[at] ?? 0);
      widths[own] = (widths[own] ?? 0) + 1;
      if (own > widest) widest = own;
    }
    let [best, least, chosen] = [0, Infinity, 0];
    let exceptions = 0;
    for (let width = widest; width >= 0; width -= 1) {
      if (width <= MOST_WIDTH) {
        const bits = count * width + exceptions * 8 * (1 + Math.ceil((widest - width) / 7));
        if (bits < least) [best, least, chosen] = [width, bits, exceptions];
      }
      exceptions += widths[width] ?? 0;
    }
    return { width: best, exceptions: chosen };
  }
}

function writeExceptions(bytes: Uint8Array, from: number, numbers: Uint32Array, count: number, width: number): number {
  let end = from;
  for (let at = 0; at < count; at += 1) {
    let rest = (numbers[at] ?? 0) >>> width;
    if (rest === 0) continue;
    bytes[end++] = at;
    for (; rest > 127; rest >>>= 7) bytes[end++] = (rest & 127) | 128;
    bytes[end++] = rest;
  }
  return end;
}

/** Unpacks `count` numbers from what lies at `start`, and gives the place behind it. */
export function unpack(bytes: DataView, start: number, numbers: Uint32Array, count: number): number {
  const width = bytes.getUint8(start);
  const exceptions = bytes.getUint8(start + 1);
  const first = start + 2;
  if (width < 8) unpackNarrow(bytes, first, numbers, count, width);
  else unpackWide(bytes, first, numbers, count, width);
  let end = first + ((count * width + 7) >> 3);
  for (let left = exceptions; left > 0; left -= 1) {
    const at = bytes.getUint8(end++);
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes.getUint8(end++);
      high |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    numbers[at] = (numbers[at] ?? 0) | (high << width);
  }
  return end;
}

function unpackWide(bytes: DataView, first: number, numbers: Uint32Array, count: number, width: number): void {
  const mask = 2 ** width - 1;
  for (let at = 0, bit = 0; at < count; at += 1, bit += width) {
    numbers[at] = (bytes.getUint32(first + (bit >>> 3), true) >>> (bit & 7)) & mask;
  }
}

/** Eight numbers at a time, which begin at a byte, four of them from one word; what it reads too much is overwritten or not looked at. */
function unpackNarrow(bytes: DataView, first: number, numbers: Uint32Array, count: number, width: number): void {
  const mask = 2 ** width - 1;
  const [second, third, fourth] = [width, 2 * width, 3 * width];
  const [half, shift] = [width >>> 1, (4 * width) & 7];
  for (let at = 0, place = first; at < count; at += 8, place += width) {
    const low = bytes.getUint32(place, true);
    const high = bytes.getUint32(place + half, true) >>> shift;
    numbers[at] = low & mask;
    numbers[at + 1] = (low >>> second) & mask;
    numbers[at + 2] = (low >>> third) & mask;
    numbers[at + 3] = (low >>> fourth) & mask;
    numbers[at + 4] = high & mask;
    numbers[at + 5] = (high >>> second) & mask;
    numbers[at + 6] = (high >>> third) & mask;
    numbers[at + 7] = (high >>> fourth) & mask;
  }
}
