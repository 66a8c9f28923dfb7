import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskedChecksum } from '../../../../src/jobs/metrics/eventFile.ts';
import { readMetricFiles } from '../../../../src/jobs/metrics/metricFiles.ts';
import type { SeriesPoint } from '../../../../src/jobs/metrics/series.ts';
import { seeded } from '../../../random.ts';
import { event, field, float, record, scalar } from './eventFiles.ts';

const EVENTS = 'events.out.tfevents.1700000000.host.1.0';

/** The points of the series in files, which are read in pieces of `pieceBytes`. */
async function pointsOf(
  files: Readonly<Record<string, Buffer | string>>,
  pieceBytes = 1_000,
): Promise<Readonly<Record<string, readonly SeriesPoint[]>>> {
  const all = Object.entries(files).map(([path, content]) => ({ path, content: Buffer.from(content) }));
  const listed = all.map(({ path, content }) => ({ path, content, size: content.length }));
  const series = await readMetricFiles(listed, async function* ({ content }) {
    await Promise.resolve();
    for (let at = 0; at < content.length; at += pieceBytes) yield content.subarray(at, at + pieceBytes);
  });
  return Object.fromEntries([...series].map(([name, { points }]) => [name, points]));
}

test('checksums are those of real event files', () => {
  assert.equal(maskedChecksum(Buffer.from([0x18, 0, 0, 0, 0, 0, 0, 0])), 0x224b7fa3);
});

test('metrics.jsonl has a JSON object per line, and other lines add nothing', async () => {
  const text =
    '{"step": 1, "loss": 0.5, "note": "x"}\r\nnot JSON\n[1]\n\n{"step": 2, "loss": NaN}\n{"step": 3, "loss": 0.25}';
  const loss = [
    [1, 0.5],
    [2, NaN],
    [3, 0.25],
  ];
  for (const bytes of [1, 7, 1_000]) assert.deepEqual(await pointsOf({ 'out/metrics.jsonl': text }, bytes), { loss });
});

test('a line of metrics that is too long is left out, also at the end', async () => {
  const line = (step: number, length: number): string => `{"step": ${step}, "loss": 1}`.padEnd(length);
  const most = 16 * 1024;
  const text = [line(1, most), line(2, most + 1), line(3, 0), line(4, most)].join('\n');
  const steps = async (log: string) => (await pointsOf({ 'metrics.jsonl': log }))['loss']?.map(([step]) => step);
  assert.deepEqual(await steps(text), [1, 3, 4]);
  assert.deepEqual(await steps(`${text} `), [1, 3]);
});

test('scalars of event files are read as TensorFlow 1, TensorFlow 2 and PyTorch write them, cut anywhere', async () => {
  const half = Buffer.alloc(4);
  half.writeFloatLE(0.5);
  const quarter = Buffer.alloc(8);
  quarter.writeDoubleLE(0.25);
  const file = Buffer.concat([
    record(field(3, Buffer.from('brain.Event:2'))),
    event(10, scalar('loss', 2), scalar('accuracy', 0.75)),
    event(300, Buffer.concat([field(1, Buffer.from('loss')), field(8, Buffer.concat([field(1, 1), field(4, half)]))])),
    event(400, Buffer.concat([field(1, Buffer.from('lr')), field(8, Buffer.concat([field(1, 2), field(6, quarter)]))])),
    event(500, Buffer.concat([field(1, Buffer.from('image')), field(4, Buffer.alloc(500))])),
  ]);
  const loss = [
    [10, 2],
    [300, 0.5],
  ];
  for (const bytes of [1, 13, 100_000])
    assert.deepEqual(await pointsOf({ [EVENTS]: file }, bytes), { loss, accuracy: [[10, 0.75]], lr: [[400, 0.25]] });
});

test('fields of other numbers and types, in any order, change nothing', async () => {
  const value = Buffer.concat([
    field(1, 7),
    scalar('loss', 0.5),
    float(3, 9),
    field(2, Buffer.alloc(4, 1)),
    field(9, Buffer.from('more')),
    float(8, 9),
    field(7, Buffer.from('type')),
  ]);
  const summary = Buffer.concat([field(2, scalar('other', 1)), field(1, 3), field(1, value), float(1, 2)]);
  const file = record(
    Buffer.concat([
      field(6, field(1, scalar('graph', 1))),
      field(5, 8),
      field(5, summary),
      field(1, 99),
      field(2, 12),
      field(2, Buffer.of(5)),
      field(3, 77),
    ]),
  );
  const unnamed = event(1, float(2, 1), scalar('', 1), field(1, Buffer.from('empty')));
  assert.deepEqual(await pointsOf({ [EVENTS]: Buffer.concat([file, unnamed]) }), { loss: [[12, 0.5]] });
});

test('a tensor is read only if it has one number of a known type', async () => {
  const half = Buffer.alloc(4);
  half.writeFloatLE(0.5);
  const tensor = (tag: string, ...fields: readonly Buffer[]): Buffer =>
    Buffer.concat([field(1, Buffer.from(tag)), field(8, Buffer.concat(fields))]);
  const file = event(
    1,
    tensor('none', field(1, 1)),
    tensor('none of eight bytes', field(1, 2)),
    tensor('single', float(5, 0.5), field(1, 1)),
    tensor('packed', field(1, 1), field(5, half)),
    tensor('two', field(1, 1), field(4, Buffer.concat([half, half]))),
    tensor('short', field(1, 2), field(4, half)),
    tensor('text', field(1, 7), field(8, half)),
    tensor('elsewhere', field(1, 1), field(7, half)),
    tensor('untyped', field(4, half)),
    tensor('type as text', field(1, Buffer.of(1)), field(4, half)),
  );
  assert.deepEqual(await pointsOf({ [EVENTS]: file }), { single: [[1, 0.5]], packed: [[1, 0.5]] });
});

test('the same metric of several runs has a name for each of their folders', async () => {
  const files = {
    [`logs/train/${EVENTS}`]: event(1, scalar('loss', 1)),
    [`logs/test/${EVENTS}`]: event(1, scalar('loss', 2)),
  };
  assert.deepEqual(await pointsOf(files), { 'logs/test/loss': [[1, 2]], 'logs/train/loss': [[1, 1]] });
});

test('of a damaged event file, what is whole is read: a wrong record is skipped, and an incomplete end is ignored', async () => {
  const first = event(1, scalar('loss', 1));
  const second = event(2, scalar('loss', 2));
  const large = record(Buffer.alloc(1_000_000, 5));
  const third = event(3, scalar('loss', 3));
  const file = Buffer.concat([first, second, large, third, event(4, scalar('loss', 4)).subarray(0, 20)]);
  const damaged = Buffer.from(file);
  damaged.writeUInt8(damaged.readUInt8(first.length + 14) ^ 1, first.length + 14);
  assert.deepEqual(await pointsOf({ [EVENTS]: file }), {
    loss: [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
  });
  assert.deepEqual(await pointsOf({ [EVENTS]: damaged }), {
    loss: [
      [1, 1],
      [3, 3],
    ],
  });
});

test('1,000 series, a million values and random bytes take bounded memory', async () => {
  const many = Array.from({ length: 3_000 }, (_, index) => event(index, scalar(`m${index}`, index)));
  assert.equal(Object.keys(await pointsOf({ [EVENTS]: Buffer.concat(many) }, 65_536)).length, 1_000);
  const lines = Array.from({ length: 200_000 }, (_, step) => `{"step":${step},"loss":${step % 7}}\n`).join('');
  const [points] = Object.values(await pointsOf({ 'metrics.jsonl': lines }, 65_536));
  assert.ok(points !== undefined && points.length <= 500);
  const random = seeded(1);
  for (let round = 0; round < 200; round += 1) {
    const noise = Buffer.from(Array.from({ length: 200 }, () => random(256)));
    await pointsOf({ [EVENTS]: Buffer.concat([record(noise), event(1, noise), noise]), 'metrics.jsonl': noise });
  }
});
