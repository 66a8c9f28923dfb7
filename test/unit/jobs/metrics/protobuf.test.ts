import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEventRecords, readFields, varintOf } from '../../../../src/jobs/metrics/eventFile.ts';
import { MetricTable } from '../../../../src/jobs/metrics/metricTable.ts';
import { field, float, record } from './eventFiles.ts';

const fieldsOf = (...bytes: readonly Buffer[]) =>
  [...readFields(Buffer.concat(bytes))].map((each) => [
    each.number,
    each.type,
    Buffer.from(each.bytes).toString('hex'),
  ]);

test('a message is read field by field, of every type', () => {
  assert.deepEqual(
    fieldsOf(
      field(1, 150),
      field(2, Buffer.from('ab')),
      float(3, 1),
      Buffer.from('2101020304050607ff', 'hex'),
      field(1_000, 1),
    ),
    [
      [1, 'varint', '9601'],
      [2, 'bytes', '6162'],
      [3, 'fixed32', '0000803f'],
      [4, 'fixed64', '01020304050607ff'],
      [1_000, 'varint', '01'],
    ],
  );
  assert.deepEqual(fieldsOf(), []);
});

test('what follows a damaged field, or one of a deprecated type, is not read', () => {
  const whole = field(1, 5);
  for (const rest of ['10', '10ff', '1205616263', '12ff', '3d0000', '390000', '0b', '0e', `10${'ff'.repeat(10)}01`]) {
    assert.deepEqual(fieldsOf(whole, Buffer.from(rest, 'hex')), [[1, 'varint', '05']], rest);
  }
});

test('a number of any length is read, and a large one is negative', () => {
  const numberOf = (hex: string): number => {
    const [first] = readFields(Buffer.from(`08${hex}`, 'hex'));
    return first === undefined ? Number.NaN : varintOf(first);
  };
  assert.deepEqual(
    [numberOf('00'), numberOf('7f'), numberOf('8001'), numberOf('ffffffffffffffffff01')],
    [0, 127, 128, -1],
  );
  assert.equal(varintOf({ number: 1, type: 'varint', bytes: new Uint8Array() }), 0);
});

test('a record of the largest size is read, a larger one is skipped, and so is what has a wrong checksum', async () => {
  const read = async (file: Buffer, pieceBytes: number): Promise<readonly number[]> => {
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let at = 0; at < file.length; at += pieceBytes) yield file.subarray(at, at + pieceBytes);
    }
    const lengths: number[] = [];
    for await (const data of readEventRecords(pieces(), 100)) lengths.push(data.length);
    return lengths;
  };
  const file = Buffer.concat([0, 100, 101, 1, 5_000, 2].map((length) => record(Buffer.alloc(length, 7))));
  for (const pieceBytes of [1, 12, 116, 10_000])
    assert.deepEqual(await read(file, pieceBytes), [0, 100, 1, 2], `${pieceBytes}`);
  const wrongLength = Buffer.from(file);
  wrongLength.writeUInt8(1, 16);
  assert.deepEqual(await read(wrongLength, 10_000), [0], 'where the next one begins is unknown');
  const wrongData = Buffer.from(file);
  wrongData.writeUInt8(8, 16 + 12 + 50);
  assert.deepEqual(await read(wrongData, 10_000), [0, 1, 2]);
});

test('a table has the first 1,000 names, without control characters, and each value at its step or number', () => {
  const table = new MetricTable();
  table.add(' a\u001b[2J ', 5, 1);
  table.add('a', undefined, 2);
  table.add('a', Infinity, 3);
  table.add('', 1, 1);
  table.add('n'.repeat(101), 1, 1);
  assert.deepEqual([...table.series.keys()], ['a', 'n'.repeat(100)]);
  assert.deepEqual(table.series.get('a')?.points, [
    [5, 1],
    [2, 2],
    [3, 3],
  ]);
  for (let index = 2; index <= 1_000; index += 1) table.add(`m${index}`, 1, index);
  assert.equal(table.series.size, 1_000);
  table.add('a', 9, 9);
  assert.deepEqual([table.series.has('m1000'), table.series.get('a')?.last], [false, 9]);
});

test('numbers of an object are values at its step, and everything else of it is none', () => {
  const table = new MetricTable();
  table.addObject('{"step": 3, "loss": 0.5, "name": "x", "on": true, "list": [1], "nothing": null, " ": 1}', 'run/');
  table.addObject('{"loss": NaN, "low":-Infinity}', 'run/');
  for (const other of ['', '[1]', '"text"', 'null', '5', '{', '{"loss": nan}']) table.addObject(other, 'run/');
  table.addObject('{"step": "3", "loss": 1}', 'run/');
  assert.deepEqual(
    [...table.series].map(([name, { points }]) => [name, points]),
    [
      [
        'run/loss',
        [
          [3, 0.5],
          [2, NaN],
          [3, 1],
        ],
      ],
      ['run/low', [[1, NaN]]],
    ],
  );
  assert.equal(table.series.get('run/low')?.last, -Infinity);
});
