/** Writes a number in LEB128 (seven bits per byte, lowest first), and returns the end. */
export function writeVarint(to: usize, number: u32): usize {
  while (number > 127) {
    store<u8>(to, number | 128);
    number >>>= 7;
    to++;
  }
  store<u8>(to, number);
  return to + 1;
}
