import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  costSoFar,
  describeEstimate,
  describeForecast,
  describeUsed,
  estimateCost,
  findRate,
  highestCredits,
  readBalance,
  readRateCard,
  recordedPrice,
} from '../../../../src/jobs/plan/estimate.ts';
import { makeRecord } from '../fixtures.ts';

const account = {
  credits: 312,
  rate_card: [{ machine_class: 'a10g', credits_per_minute: 0.6, description: 'one GPU' }],
};

test('the highest cost is the time limit at the rate of the machine', () => {
  const estimate = estimateCost(account, { machineClass: 'a10g', maxRuntime: 600 });
  assert.deepEqual(estimate, { type: 'known', creditsPerMinute: 0.6, highest: 6, balance: 312 });
  assert.equal(describeEstimate(estimate), 'At most 6 credits of 312.');
  assert.deepEqual(estimateCost(account, { maxRuntime: 600 }), estimate, 'the only class is the default');
});

test('a cost above the balance is said', () => {
  const estimate = estimateCost({ ...account, credits: 2 }, { machineClass: 'a10g', maxRuntime: 600 });
  assert.equal(describeEstimate(estimate), 'At most 6 credits, and you have 2.');
});

test('an unknown rate says unknown', () => {
  const estimate = estimateCost(account, { machineClass: 'h100', maxRuntime: 600 });
  assert.equal(estimate.type, 'unknown');
  assert.equal(describeEstimate(estimate), 'No price is listed for h100.');
  const two = { rate_card: { a: 1, b: 2 } };
  assert.equal(
    describeEstimate(estimateCost(two, { maxRuntime: 60 })),
    'At most 2 credits, on the most expensive machine class; none is chosen.',
  );
  assert.match(describeEstimate(estimateCost({}, { maxRuntime: 60 })), /unknown: no machine class is chosen/);
});

test('rate cards of other shapes are read', () => {
  const rates = (card: unknown): unknown =>
    readRateCard({ rate_card: card }).map(({ machineClass, creditsPerMinute }) => [machineClass, creditsPerMinute]);
  assert.deepEqual(rates({ cpu: 0.1, gpu: { credits_per_hour: 60 } }), [
    ['cpu', 0.1],
    ['gpu', 1],
  ]);
  assert.deepEqual(rates([{ name: 'cpu', credits_per_second: 0.01 }]), [['cpu', 0.6]]);
  for (const odd of [
    null,
    'x',
    7,
    [null, 'x', { name: 'y' }, { credits_per_minute: -1 }, { credits_per_minute: '3' }],
  ]) {
    assert.deepEqual(rates(odd), []);
  }
  assert.deepEqual(readRateCard(undefined), []);
});

test('a balance is a number or unknown', () => {
  assert.equal(readBalance({ credits: 0 }), 0);
  assert.equal(readBalance({ credits: '12' }), null);
  assert.equal(readBalance({ balance: 5 }), 5);
  assert.equal(readBalance(null), null);
});

test('the cost so far grows to the time limit and becomes what was charged', () => {
  const start = Date.UTC(2026, 0, 1);
  const record = makeRecord({
    state: 'running',
    startedAt: new Date(start).toISOString(),
    creditsPerMinute: 2,
    maxRuntime: 120,
  });
  assert.equal(costSoFar(record, start + 30_000), 1);
  assert.equal(costSoFar(record, start + 9_000_000), 4);
  assert.equal(costSoFar({ ...record, creditsCharged: 0.5, state: 'succeeded' }, start), 0.5);
  assert.equal(costSoFar({ ...record, startedAt: null }, start), null);
});

test('a price is that of the class, of the only class, or none', () => {
  const rate = { machineClass: 'a10g', creditsPerMinute: 0.6, description: 'one GPU' };
  assert.deepEqual(
    [findRate(account, 'a10g'), findRate(account, undefined), findRate(account, '')],
    [rate, rate, rate],
  );
  assert.equal(findRate(account, 'other'), undefined);
  assert.equal(findRate({ rate_card: { a: 1, b: 2 } }, undefined), undefined);
  assert.deepEqual(readRateCard({ rate_card: [{ credits_per_minute: 0 }] }), [
    { machineClass: null, creditsPerMinute: 0, description: null },
  ]);
});

test('an estimate is said with what is known', () => {
  const said = (reply: unknown, maxRuntime = 600, machineClass?: string) =>
    describeEstimate(estimateCost(reply, { maxRuntime, machineClass }));
  assert.equal(said({ rate_card: { a: 1 } }), 'At most 10 credits.');
  assert.equal(said({ rate_card: { a: 1 }, credits: 10 }), 'At most 10 credits of 10.');
  assert.equal(said({ rate_card: { a: 1 }, credits: 9.5 }), 'At most 10 credits, and you have 9.5.');
  assert.equal(said({}), 'The cost is unknown: no machine class is chosen.');
  assert.equal(
    said({ rate_card: { a: 3, b: 2 } }, 60),
    'At most 3 credits, on the most expensive machine class; none is chosen.',
  );
  assert.deepEqual(estimateCost({ credits: 5 }, { maxRuntime: 1, machineClass: 'x' }), {
    type: 'unknown',
    reason: 'No price is listed for x.',
    balance: 5,
  });
});

test('what a job has cost is unknown before it starts, after it has ended, and without a rate', () => {
  const start = Date.UTC(2026, 0, 1);
  const record = makeRecord({
    state: 'running',
    startedAt: new Date(start).toISOString(),
    creditsPerMinute: 2,
    maxRuntime: 120,
  });
  assert.equal(costSoFar(record, start - 60_000), 0);
  assert.equal(costSoFar({ ...record, creditsPerMinute: null }, start), null);
  assert.equal(costSoFar({ ...record, state: 'failed' }, start), null);
  assert.equal(costSoFar({ ...record, creditsCharged: 0 }, start + 60_000), 0);
  assert.equal(describeForecast(record, start + 30_000), 'about 1 of at most 4 credits');
  assert.equal(describeForecast({ ...record, creditsCharged: 1 }, start), null);
});

const cluster = {
  credits: 1_000,
  features: ['unpriced'],
  rate_card: [
    { machine_class: 'small', description: 'two cores', cpus: 2, gpus: 0 },
    { machine_class: 'gpu', cpus: 8, gpus: 1 },
  ],
};

test('without a price, an estimate is what the job may use of its machine', () => {
  const said = (machineClass: string | undefined, maxRuntime = 1_800) =>
    describeEstimate(estimateCost(cluster, { maxRuntime, machineClass }));
  assert.equal(said('gpu'), 'Up to 4 core-hours, 0.5 GPU-hours.');
  assert.equal(said('small'), 'Up to 1 core-hour.');
  assert.equal(said(undefined), 'Up to 4 core-hours, 0.5 GPU-hours, on the largest machine class; none is chosen.');
  assert.equal(said('h100'), 'No price is listed for h100.');
  const plain = { features: ['unpriced'], rate_card: [{ machine_class: 'plain', cpus: 'many', gpus: -1 }] };
  assert.equal(describeEstimate(estimateCost(plain, { maxRuntime: 60 })), 'It costs no credits.');
});

test('a service without any price has no balance, and one with a price has', () => {
  assert.equal(readBalance(cluster), null);
  assert.equal(readBalance({ ...cluster, rate_card: [...cluster.rate_card, { credits_per_minute: 0 }] }), 1_000);
  assert.equal(readBalance({ ...cluster, features: [] }), 1_000, 'its prices are unknown');
  assert.equal(readBalance({ ...cluster, rate_card: [] }), 1_000);
});

test('a price of 0 is a price, an unknown one is unknown, and only a service that says so has classes without one', () => {
  const estimated = (machineClass: string) => {
    const rate_card = { free: 0, odd: { credits_per_minute: -1 }, none: { cpus: 4 } };
    return ['unpriced', 'secrets'].map((feature) => {
      const estimate = estimateCost({ features: [feature], rate_card }, { maxRuntime: 60, machineClass });
      return [estimate.type, highestCredits(estimate)];
    });
  };
  assert.deepEqual(estimated('free'), [
    ['known', 0],
    ['known', 0],
  ]);
  assert.deepEqual(estimated('odd'), [
    ['unknown', undefined],
    ['unknown', undefined],
  ]);
  assert.deepEqual(estimated('none'), [
    ['unpriced', 0],
    ['unknown', undefined],
  ]);
});

test('a job without a price costs no credits, and its use of the machine grows until it ends', () => {
  const start = Date.UTC(2026, 0, 1);
  const startedAt = new Date(start).toISOString();
  const machine = { creditsPerMinute: null, unpricedCpus: 4, unpricedGpus: 1 };
  const record = makeRecord({ state: 'running', startedAt, maxRuntime: 3_600, ...machine });
  assert.equal(costSoFar(record, start + 900_000), null);
  assert.equal(
    describeForecast(record, start + 900_000),
    '1 core-hour, 0.25 GPU-hours so far, up to 4 core-hours, 1 GPU-hour',
  );
  assert.equal(describeForecast({ ...record, startedAt: null }, start), null);
  const finishedAt = new Date(start + 1_800_000).toISOString();
  const ended = { ...record, state: 'succeeded', finishedAt, creditsCharged: 0 };
  assert.equal(describeUsed(ended, start + 9e9), '2 core-hours, 0.5 GPU-hours');
  assert.equal(costSoFar(ended, start), null);
  const charged = makeRecord({ state: 'succeeded', startedAt, finishedAt, creditsCharged: 0 });
  assert.deepEqual([describeUsed(charged, start), costSoFar(charged, start)], [null, 0], 'a price of 0');
});

test('the record of a job has its price, its machine if that has none, or nothing', () => {
  const known = estimateCost(account, { machineClass: 'a10g', maxRuntime: 600 });
  assert.deepEqual(recordedPrice(known), { creditsPerMinute: 0.6 });
  const unknown = estimateCost(account, { machineClass: 'h100', maxRuntime: 600 });
  assert.deepEqual([unknown.type, recordedPrice(unknown)], ['unknown', {}]);
  const machine = { cpus: 4, gpus: 1 };
  const terms = { maxRuntime: 600, isLargest: false, balance: null };
  assert.deepEqual(recordedPrice({ type: 'unpriced', creditsPerMinute: null, machine, ...terms }), {
    unpricedCpus: 4,
    unpricedGpus: 1,
  });
});
