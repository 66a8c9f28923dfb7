import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobRecord } from '../../../../src/jobs/ledger/record.ts';
import { UsageSeries } from '../../../../src/jobs/metrics/usageSeries.ts';
import { adviseOn } from '../../../../src/jobs/report/advice.ts';
import { makeRecord } from '../fixtures.ts';

const GIGABYTE = 2 ** 30;
const machine = (name: string, price: number, cpus: number, gigabytes: number, gpus = 0): object => ({
  machine_class: name,
  credits_per_minute: price,
  cpus,
  memory_gb: gigabytes,
  gpus,
});
const CARD = [
  machine('tiny', 0.01, 1, 2),
  machine('small', 0.04, 2, 4),
  machine('large', 0.3, 8, 16),
  machine('gpu', 1, 8, 64, 1),
];

function used(data: Readonly<Record<string, number>>): UsageSeries {
  const usage = new UsageSeries();
  usage.push({ event: 'usage', data, at: '2026-01-01T00:05:00.000Z' });
  return usage;
}

function ended(fields: Partial<JobRecord> = {}): JobRecord {
  const times = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:11:00.000Z' };
  return makeRecord({
    state: 'succeeded',
    machineClass: 'large',
    maxRuntime: 3_600,
    creditsCharged: 3.3,
    ...times,
    ...fields,
  });
}

test('a class that would have been enough is named with its price', () => {
  const advice = adviseOn(ended(), used({ cpu_cores: 1.5, memory_bytes: 2.1 * GIGABYTE }), { rate_card: CARD });
  assert.equal(
    advice?.sentence,
    'Used 2.1 of 16 GB, 1.5 of 8 cores and 11 min of 1 h. The class small would have cost 0.44 instead of 3.3 credits.',
  );
  assert.equal(advice?.cheaper?.machineClass, 'small');
});

test('no class is named that lacks the memory, the cores or the GPUs, or saves too little', () => {
  const cheaper = (record: JobRecord, usage: UsageSeries, card = CARD): string | undefined =>
    adviseOn(record, usage, { rate_card: card })?.cheaper?.machineClass;
  const little = { cpu_cores: 0.5, memory_bytes: GIGABYTE };
  assert.equal(cheaper(ended(), used(little)), 'tiny');
  assert.equal(cheaper(ended(), used({ ...little, memory_bytes: 1.9 * GIGABYTE })), 'small', 'with room for more');
  assert.equal(cheaper(ended(), used({ ...little, memory_bytes: 3.9 * GIGABYTE })), undefined);
  assert.equal(cheaper(ended(), used({ ...little, cpu_cores: 3 })), undefined);
  const gpu = ended({ machineClass: 'gpu' });
  assert.equal(cheaper(gpu, used(little)), undefined, 'nobody knows whether it used its GPU');
  assert.equal(cheaper(gpu, used({ ...little, gpus: 0.2, gpu_memory_bytes: 9 })), undefined);
  assert.equal(cheaper(gpu, used({ ...little, gpus: 0, gpu_memory_bytes: 0 })), 'tiny');
  const close = [machine('large', 0.3, 8, 16), machine('other', 0.29, 8, 16)];
  assert.equal(cheaper(ended(), used(little), close), undefined);
  assert.equal(cheaper(ended({ state: 'failed' }), used(little)), undefined, 'it may have failed before its peak');
});

test('what a service does not say is left out', () => {
  assert.equal(adviseOn(ended(), new UsageSeries(), undefined)?.sentence, 'Used 11 min of 1 h.');
  const prices = { rate_card: { large: 0.3, small: 0.04 } };
  const advice = adviseOn(ended({ maxRuntime: 0 }), used({ memory_bytes: GIGABYTE, cpu_cores: 1 }), prices);
  assert.deepEqual(advice, { sentence: 'Used 1 GB, 1 core and 11 min.', cheaper: null });
  assert.equal(adviseOn(ended({ startedAt: null }), new UsageSeries(), prices), undefined);
  assert.equal(adviseOn(ended({ state: 'running', finishedAt: null }), new UsageSeries(), prices), undefined);
});

test('what was used of how much is said, each only if it is known', () => {
  const card = [{ ...machine('large', 0.3, 8, 16), memory_gb: null }];
  const sentence = (data: Readonly<Record<string, number>>): string | undefined =>
    adviseOn(ended(), used(data), { rate_card: card })?.sentence;
  assert.equal(sentence({ memory_bytes: 2.14 * GIGABYTE }), 'Used 2.1 GB and 11 min of 1 h.');
  assert.equal(sentence({ cpu_cores: 1 }), 'Used 1 of 8 cores and 11 min of 1 h.');
  assert.equal(sentence({ cpu_cores: 0.123 }), 'Used 0.12 of 8 cores and 11 min of 1 h.');
});

test('the advice says that a job hardly used its GPUs', () => {
  const card = [machine('gpu', 1, 8, 64, 1), machine('node', 4, 32, 256, 4)];
  const sentence = (machineClass: string, gpus?: number): string | undefined =>
    adviseOn(ended({ machineClass, state: 'failed' }), used(gpus === undefined ? {} : { gpus }), { rate_card: card })
      ?.sentence;
  assert.equal(sentence('gpu', 0), 'Used 11 min of 1 h. Your job used 0 % of its GPU.');
  assert.equal(sentence('node', 0.1), 'Used 11 min of 1 h. Your job used 3 % of its 4 GPUs.');
  for (const gpus of [0.05, 1, undefined]) assert.equal(sentence('gpu', gpus), 'Used 11 min of 1 h.');
});

test('a job that others kept from its cores is distinguished from one that did not use them', () => {
  const reports = (...all: readonly Readonly<Record<string, number>>[]): UsageSeries => {
    const usage = new UsageSeries();
    for (const [index, data] of all.entries()) {
      usage.push({ event: 'usage', data, at: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString() });
    }
    return usage;
  };
  const of = (usage: UsageSeries) => adviseOn(ended(), usage, { rate_card: CARD });
  const memory_bytes = GIGABYTE;
  const starved = of(reports({ cpu_cores: 0.35, cpu_waiting: 0.65, memory_bytes }));
  assert.match(
    starved?.sentence ?? '',
    /Other programs of the machine kept it from using 0\.65 more cores on average, so it was slower than it could be\.$/,
  );
  assert.equal(starved?.cheaper, null, 'it might have used all of its cores');
  assert.equal(of(reports({ cpu_cores: 0.35, cpu_waiting: 0.01, memory_bytes }))?.cheaper?.machineClass, 'tiny');
  // More threads than cores wait for each other.
  assert.doesNotMatch(of(reports({ cpu_cores: 8, cpu_waiting: 24, memory_bytes }))?.sentence ?? '', /Other programs/);
  // A moment at the start says nothing about an hour.
  const brief = reports(
    { cpu_cores: 1, cpu_waiting: 5, memory_bytes },
    ...Array.from({ length: 60 }, () => ({ cpu_cores: 1, cpu_waiting: 0, memory_bytes })),
  );
  assert.doesNotMatch(of(brief)?.sentence ?? '', /Other programs/);
});
