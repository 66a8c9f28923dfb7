// Mostly small numbers are packed with patched frame-of-reference coding (Zukowski and others, "Super-Scalar RAM-CPU Cache Compression",
// 2006): all in the number of bits that makes the result shortest, followed by the position and the higher bits of each exception. The
// format is the width, the number of exceptions, the packed bits, and the exceptions. Unpacking has no branches that depend on the
// numbers, which a processor would mispredict.

/** Bytes that must follow packed numbers, because eight numbers are read in one step, as two words of four bytes. */
export const PADDING = 8;
/** Unpacks `count` numbers from `start` on, and returns the end. */
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

/** Unpacks eight byte-aligned numbers per step, four from each word. Excess numbers are overwritten or ignored. */
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
