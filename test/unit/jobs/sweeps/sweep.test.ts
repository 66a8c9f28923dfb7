import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCostLimit, highestSweepCost } from '../../../../src/jobs/sweeps/sweep.ts';
import { makeRecord } from '../fixtures.ts';

// They can cost 10 and 20 credits.
const DRAFTS = [600, 1_200].map((maxRuntime) => makeRecord({ creditsPerMinute: 1, maxRuntime }));
const UNPRICED = makeRecord({ creditsPerMinute: null });

test('the most that a sweep can cost is known if the price of each job is', () => {
  assert.equal(highestSweepCost({ drafts: DRAFTS }), 30);
  assert.equal(highestSweepCost({ drafts: [...DRAFTS, UNPRICED] }), undefined);
});

test('a cost limit must be enough for each job, and needs prices', () => {
  const check = (maxCost: number | null, drafts = DRAFTS) => checkCostLimit({ name: 'train', drafts, maxCost });
  check(20);
  check(null, [UNPRICED]);
  assert.throws(() => check(19.9), { code: 'bad-input', message: /^One job of train can cost 20 credits, more than/ });
  assert.throws(() => check(100, [UNPRICED]), { code: 'bad-input', message: /^No price is listed/ });
});
