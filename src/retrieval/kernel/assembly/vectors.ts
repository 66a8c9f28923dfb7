// The innermost loop of semantic search: dot products of one vector with many.
import { NUMBERS_PER_STEP, ROWS_PER_STEP } from './kernelLayout.ts';

/**
 * Writes the dot product of each row with the query to `out`. All parameters except the stride are addresses. The query consists of
 * signed 16-bit numbers, a row of signed bytes, and a product is a signed 32-bit number. `stride` is the length of a row, a multiple of
 * `NUMBERS_PER_STEP`. The number of rows is a multiple of `ROWS_PER_STEP` and not 0, and memory for one more step follows them.
 */
export function dots(query: usize, rows: usize, rowsEnd: usize, stride: usize, out: usize): void {
  const queryEnd = query + 2 * stride;
  const stride2 = 2 * stride;
  const stride3 = 3 * stride;
  const stepBytes = ROWS_PER_STEP * stride;
  do {
    let sum0 = i32x4.splat(0);
    let sum1 = i32x4.splat(0);
    let sum2 = i32x4.splat(0);
    let sum3 = i32x4.splat(0);
    let row = rows;
    let at = query;
    let next = rows + stepBytes;
    do {
      const numbers = v128.load(at);
      sum0 = i32x4.add(sum0, i32x4.dot_i16x8_s(v128.load_ext<i8>(row), numbers));
      sum1 = i32x4.add(sum1, i32x4.dot_i16x8_s(v128.load_ext<i8>(row + stride), numbers));
      sum2 = i32x4.add(sum2, i32x4.dot_i16x8_s(v128.load_ext<i8>(row + stride2), numbers));
      sum3 = i32x4.add(sum3, i32x4.dot_i16x8_s(v128.load_ext<i8>(row + stride3), numbers));
      // Processors do not read ahead across memory pages. Loading one byte of what the next step needs, only to have it
      // in the cache by then, takes a fifth off the time where the rows are larger than the cache.
      load<u8>(next);
      next += ROWS_PER_STEP * NUMBERS_PER_STEP;
      row += NUMBERS_PER_STEP;
      at += 2 * NUMBERS_PER_STEP;
    } while (at < queryEnd);
    store<i32>(out, sumOf(sum0));
    store<i32>(out, sumOf(sum1), 4);
    store<i32>(out, sumOf(sum2), 8);
    store<i32>(out, sumOf(sum3), 12);
    rows += stepBytes;
    out += 4 * ROWS_PER_STEP;
  } while (rows < rowsEnd);
}

function sumOf(lanes: v128): i32 {
  return (
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3)
  );
}
