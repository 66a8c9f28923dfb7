import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Series } from '../../../../src/jobs/metrics/series.ts';
import { bestRow, metricNames, rankRows, type SweepRow, sweepRows } from '../../../../src/jobs/sweeps/sweepTable.ts';
import { makeRecord } from '../fixtures.ts';

/** A job with the last values of its metrics. */
function row(index: number, values: Readonly<Record<string, number>>, state = 'succeeded'): SweepRow {
  const metrics = new Map(
    Object.entries(values).map(([name, value]) => {
      const series = new Series();
      series.push(1, 0);
      series.push(2, value);
      return [name, series];
    }),
  );
  const finishedAt = state === 'running' ? null : '2026-01-01T00:00:00.000Z';
  return { index, parameters: { lr: index }, record: makeRecord({ state, finishedAt }), metrics };
}

const LOSS = { metric: 'loss', isHighest: false };
const indexes = (rows: readonly SweepRow[]): number[] => rows.map(({ index }) => index);

test('rows are ranked by the last value of a metric, those without a finite one at the end in their own order', () => {
  const rows = [
    row(0, { loss: Number.NaN }),
    row(1, { loss: 2 }),
    row(2, {}),
    row(3, { loss: 1 }),
    row(4, { loss: 2 }),
  ];
  assert.deepEqual(indexes(rankRows(rows, LOSS)), [3, 1, 4, 0, 2]);
  assert.deepEqual(indexes(rankRows(rows, { ...LOSS, isHighest: true })), [1, 4, 3, 0, 2]);
});

test('the best row is that of a job that succeeded', () => {
  const unsent = { ...row(3, { loss: 0 }), record: undefined };
  const rows = [row(0, { loss: 3 }), row(1, { loss: 2 }), row(2, { loss: 1 }, 'failed'), unsent];
  assert.equal(bestRow(rows, LOSS).index, 1);
  assert.equal(bestRow(rows, { ...LOSS, isHighest: true }).index, 0);
});

test('without a value there is no best row, and the message names the metrics and the nearest one', () => {
  const rows = [row(0, { loss: Number.NaN, accuracy: 1 }), row(1, { loss: 1 }, 'failed')];
  assert.throws(() => bestRow(rows, LOSS), {
    code: 'missing',
    message: /has a value of loss\..* Metrics: loss, accuracy\.$/,
  });
  assert.throws(() => bestRow(rows, { ...LOSS, metric: 'accurracy' }), { message: /Did you mean accuracy\?/ });
  assert.throws(() => bestRow([row(0, {})], LOSS), { message: /Its jobs have printed no metrics\.$/ });
});

test('the table has a row for each job in the order of the matrix, sent or not', () => {
  const place = { id: 'sweep', name: 'train', count: 2, index: 0, parameters: { lr: 0.1 } };
  const drafts = [makeRecord({ sweep: place }), makeRecord()];
  const sent = makeRecord({ id: drafts[1]?.id ?? '', state: 'running' });
  const { metrics } = row(0, { loss: 1, accuracy: 0 });
  const rows = sweepRows({ drafts }, [sent], (id) => (id === sent.id ? metrics : new Map()));
  assert.deepEqual(
    rows.map(({ index, parameters, record }) => [index, parameters, record?.state]),
    [
      [0, { lr: 0.1 }, undefined],
      [1, {}, 'running'],
    ],
  );
  assert.deepEqual(metricNames(rows), ['loss', 'accuracy']);
});
