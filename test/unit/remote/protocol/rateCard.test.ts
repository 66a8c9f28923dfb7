import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateCost, readBalance, readRateCard } from '../../../../src/jobs/plan/estimate.ts';
import { preflightJob } from '../../../../src/jobs/plan/preflight.ts';
import { answerJson, serve } from '../server.ts';

const JOB = { machineClass: 'gpu', maxRuntime: 600 };

test('a rate card in any known spelling reaches the price from the wire', async (t) => {
  let reply: unknown;
  const { client } = await serve(t, (_request, response) => answerJson(response, reply));
  for (const card of [
    { rate_card: [{ machine_class: 'gpu', credits_per_minute: 2 }] },
    { rate_card: { cpu: 0.1, gpu: 2 } },
    { rate_card: { cpu: { credits_per_minute: 1 }, gpu: { credits_per_hour: 120, description: 'one GPU' } } },
    { rates: { gpu: { credits_per_minute: 2 } } },
    {
      rate_card: [
        { class: 'cpu', credits_per_minute: 1 },
        { class: 'gpu', credits_per_second: 2 / 60 },
      ],
    },
    { rate_card: [{ machineClass: 'gpu', credits_per_minute: 2 }] },
    { rate_card: [{ id: 'gpu', credits_per_minute: 2 }] },
    { rate_card: [null, { name: 'gpu', credits_per_minute: 2 }] },
  ]) {
    reply = { credits: 312, ...card };
    const account = await client.me();
    const known = { type: 'known', creditsPerMinute: 2, highest: 20, balance: 312 };
    assert.deepEqual(estimateCost(account, JOB), known, JSON.stringify(card));
    assert.deepEqual(preflightJob(account, JOB, 'gpu.example.org'), []);
  }
});

test('an object rate card is checked like a list, and its descriptions are shown', async (t) => {
  const card = { cpu: { credits_per_hour: 60, description: 'two cores' } };
  const { client } = await serve(t, (_request, response) => answerJson(response, { balance: 1, rate_card: card }));
  const account = await client.me();
  assert.deepEqual(readRateCard(account), [{ machineClass: 'cpu', creditsPerMinute: 1, description: 'two cores' }]);
  const findings = preflightJob(account, { machineClass: 'cpus', maxRuntime: 600 }, 'gpu.example.org');
  assert.deepEqual(findings[0]?.detail, 'Available: cpu (1 credits a minute). Did you mean "cpu"?');
  assert.equal(readBalance(account), 1);
});
