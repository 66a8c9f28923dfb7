import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelBytes } from '../../../../src/retrieval/kernel/compiledKernel.ts';
import { QuantizedRows } from '../../../../src/retrieval/semantic/quantizedRows.ts';
import { type Below, seeded } from '../../../random.ts';

function randomUnit(dimensions: number, random: Below): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random(2001) + random(2001) + random(2001) - 3000);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

const all = (): boolean => true;

test('the kernel is a few hundred bytes', () => {
  const { length } = kernelBytes('vectors');
  assert.ok(length < 1000, `${length} bytes`);
});

for (const dimensions of [1, 7, 8, 9, 64, 384, 1536]) {
  test(`with and without SIMD the same rows are found, near the exact cosines, in ${dimensions} dimensions`, () => {
    const random = seeded(dimensions);
    const vectors = Array.from({ length: 333 }, () => randomUnit(dimensions, random));
    const [fast, plain] = [new QuantizedRows(dimensions), new QuantizedRows(dimensions, { simd: false })];
    for (const rows of [fast, plain]) {
      assert.equal(rows.add(vectors.slice(0, 101)), 0);
      assert.equal(rows.add(vectors.slice(101)), 101);
      assert.equal(rows.count, 333);
    }
    for (let query = 0; query < 5; query += 1) {
      const wanted = randomUnit(dimensions, random);
      const found = fast.nearest(wanted, 20, all);
      assert.deepEqual(found, plain.nearest(wanted, 20, all));
      for (const { row, score } of found.rows) {
        const exact = cosine(wanted, vectors[row] ?? wanted);
        assert.ok(Math.abs(score - exact) < 0.01, `${score} is not about ${exact}`);
      }
      const cosines = vectors.map((vector) => cosine(wanted, vector));
      const mean = cosines.reduce((sum, one) => sum + one, 0) / cosines.length;
      const variance = cosines.reduce((sum, one) => sum + (one - mean) ** 2, 0) / cosines.length;
      assert.ok(Math.abs(found.mean - mean) < 0.01 && Math.abs(found.deviation - Math.sqrt(variance)) < 0.01);
    }
  });
}

test('sums do not overflow where all numbers of many dimensions are as large as they can be', () => {
  for (const dimensions of [384, 3072, 16_384]) {
    const rows = new QuantizedRows(dimensions);
    const flat = new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions));
    rows.add([flat, flat.map((value) => -value)]);
    const [first, second] = rows.nearest(flat, 2, all).rows;
    assert.ok(Math.abs((first?.score ?? 0) - 1) < 0.01 && first?.row === 0, String(first?.score));
    assert.ok(Math.abs((second?.score ?? 0) + 1) < 0.01 && second?.row === 1, String(second?.score));
  }
});

test('rows over several blocks and growths of the memory are all found', () => {
  const random = seeded(5);
  const rows = new QuantizedRows(16);
  const vectors = Array.from({ length: 20_000 }, () => randomUnit(16, random));
  for (let from = 0; from < vectors.length; from += 777) rows.add(vectors.slice(from, from + 777));
  for (const row of [0, 1, 4095, 4096, 8191, 12_288, 19_999]) {
    assert.equal(rows.nearest(vectors[row] ?? new Float32Array(16), 3, all).rows[0]?.row, row);
  }
});

test('only wanted rows are found, none of none, and a row of zeros is near to nothing', () => {
  const rows = new QuantizedRows(8);
  const east = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  assert.deepEqual(rows.nearest(east, 5, all), { rows: [], mean: 0, deviation: 0 });
  rows.add([east, new Float32Array(8), east]);
  assert.deepEqual(
    rows.nearest(east, 5, (row) => row !== 0).rows.map(({ row }) => row),
    [2, 1],
  );
  assert.equal(rows.nearest(east, 3, all).rows[2]?.score, 0);
  assert.deepEqual(rows.nearest(east, 0, all).rows, []);
});

test('more dimensions than can be searched are refused', () => {
  for (const dimensions of [0, 16_385]) assert.throws(() => new QuantizedRows(dimensions), { code: 'limit' });
});
