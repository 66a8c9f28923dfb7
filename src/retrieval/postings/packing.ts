// Numbers that are mostly small are packed: all in as few bits as make the whole shortest, and for each that does not fit its place
// and its higher bits behind them (Zukowski and others, "Super-Scalar RAM-CPU Cache Compression", 2006). That is their width, the
// count of those that do not fit, all their bits, and the others. Unpacking has no branches that depend on the numbers, which a
// processor would guess wrong.

/** Bytes that must be there behind what was packed: numbers are read by eight, and those by two words of four bytes. */
export const PADDING = 8;
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
