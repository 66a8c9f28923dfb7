import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageSeries } from '../../../../src/jobs/metrics/usageSeries.ts';

const RECEIVED = '2026-01-01T00:00:09.000Z';

test('usage is collected by what was measured, at the time of the measurement or of its receipt', () => {
  const usage = new UsageSeries();
  const push = (data: unknown, event = 'usage'): void => usage.push({ event, data, at: RECEIVED });
  push({ at: '2026-01-01T00:00:02.000Z', cpu_cores: 1.5, memory_bytes: 700 });
  push({ at: 'yesterday', cpu_cores: 0.5, memory_bytes: 'much', gpus: -1, valueOf: 3 });
  push({ cpu_cores: 9 }, 'log');
  for (const other of [null, 'text', [], 3, { percent: 97 }]) push(other);
  assert.deepEqual(usage.get('cpu_cores')?.points, [
    [Date.parse('2026-01-01T00:00:02.000Z'), 1.5],
    [Date.parse(RECEIVED), 0.5],
  ]);
  assert.equal(usage.get('memory_bytes')?.max, 700);
  assert.equal(usage.get('gpus'), undefined);
});
