import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCostLimit, highestSweepCost } from '../../../../src/jobs/sweeps/sweep.ts';
import { makeRecord } from '../fixtures.ts';

// They can cost 10 and 20 credits.
const DRAFTS = [600, 1_200].map((maxRuntime) => makeRecord({ creditsPerMinute: 1, maxRuntime }));
// One without a price.
const FREE = makeRecord({ creditsPerMinute: null, unpricedCpus: 4, unpricedGpus: 0 });
const UNKNOWN = makeRecord({ creditsPerMinute: null });

test('the most that a sweep can cost is known if the price of each job is', () => {
  assert.equal(highestSweepCost({ drafts: DRAFTS }), 30);
  assert.equal(highestSweepCost({ drafts: [...DRAFTS, UNKNOWN] }), undefined);
  assert.equal(highestSweepCost({ drafts: [...DRAFTS, FREE] }), 30);
});

test('a cost limit must be enough for each job, and needs prices', () => {
  const check = (maxCost: number | null, drafts = DRAFTS) => checkCostLimit({ name: 'train', drafts, maxCost });
  check(20);
  check(null, [UNKNOWN]);
  check(1, [FREE]);
  assert.throws(() => check(19.9), { code: 'bad-input', message: /^One job of train can cost 20 credits, more than/ });
  assert.throws(() => check(100, [UNKNOWN]), { code: 'bad-input', message: /^No price is listed/ });
});

test('a limit that cannot be kept is said with what to change', () => {
  const check = (maxCost: number, drafts = DRAFTS) => checkCostLimit({ name: 'tr\u001b[2Jain', drafts, maxCost });
  assert.throws(() => check(15), {
    message:
      'One job of train can cost 20 credits, more than the limit of 15 for all of them. Nothing was sent. Raise the limit, or set a shorter "maxRuntime".',
  });
  assert.throws(() => check(15, [UNKNOWN]), {
    message:
      'No price is listed for the machine class of train, so its cost limit cannot be enforced. Nothing was sent. Remove the limit, or choose a machine class with a price.',
  });
  assert.equal(highestSweepCost({ drafts: [] }), 0);
});
