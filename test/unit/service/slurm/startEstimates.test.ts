import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterJob } from '../../../../src/service/slurm/queueState.ts';
import { StartEstimates } from '../../../../src/service/slurm/startEstimates.ts';

const MINUTE = 60_000;

function job(state: string, startsAt?: number): ClusterJob {
  return { number: 1, name: 'j', state, reason: 'Resources', nodes: '', startsAt };
}

test('a job that waits has the start that the cluster expects, rounded the more the longer it takes', () => {
  const estimates = new StartEstimates();
  const about = (minutes: number): string => estimates.describe(job('PENDING', minutes * MINUTE), 0);
  assert.equal(about(0.2), 'The cluster expects to start it in about 1 min.');
  assert.equal(about(7.2), 'The cluster expects to start it in about 7 min.');
  assert.equal(about(42), 'The cluster expects to start it in about 40 min.');
  assert.equal(about(200), 'The cluster expects to start it in about 3 h.');
  assert.equal(about(60 * 80), 'The cluster expects to start it in about 3 d.');
  assert.equal(estimates.describe(job('PENDING'), 0), '');
  assert.equal(estimates.describe(job('RUNNING', MINUTE), 0), '');
});

test('it says how wrong the cluster was about the jobs that have started lately', () => {
  const estimates = new StartEstimates();
  const start = (key: string, expected: number, actual: number): void => {
    estimates.observe(new Map([[key, job('PENDING', expected)]]), 0);
    // Only what it expected at first counts: later it knows better.
    estimates.observe(new Map([[key, job('PENDING', actual)]]), 0);
    estimates.observe(new Map([[key, job('RUNNING', actual)]]), actual);
    estimates.observe(new Map(), actual);
  };
  const described = (): string => estimates.describe(job('PENDING', 5 * MINUTE), 0);
  start('exact', 10 * MINUTE, 10 * MINUTE);
  assert.equal(described(), 'The cluster expects to start it in about 5 min.');
  start('early', 30 * MINUTE, 2 * MINUTE);
  start('late', 10 * MINUTE, 40 * MINUTE);
  assert.equal(
    described(),
    'The cluster expects to start it in about 5 min; lately such estimates were off by about 30 min.',
  );
  // A job that never started says nothing about its start, and only the last ones count.
  estimates.observe(new Map([['gone', job('PENDING', 900 * MINUTE)]]), 0);
  estimates.observe(new Map([['gone', job('CANCELLED', 0)]]), 0);
  for (let index = 0; index < 20; index += 1) start(`exact ${index}`, MINUTE, MINUTE);
  assert.equal(described(), 'The cluster expects to start it in about 5 min.');
});

test('an absurd time is no expectation, and does not count as an error', () => {
  const estimates = new StartEstimates();
  const now = Date.UTC(2026, 0, 1);
  const day = 24 * 60 * MINUTE;
  const absurd = [Date.UTC(9999, 11, 31), now + 365 * day, 0, -8.64e15, now - day, now - 11 * MINUTE];
  for (const [index, time] of absurd.entries()) {
    assert.equal(estimates.describe(job('PENDING', time), now), '', String(time));
    const key = `absurd ${index}`;
    estimates.observe(new Map([[key, job('PENDING', time)]]), now);
    estimates.observe(new Map([[key, job('RUNNING', now)]]), now);
  }
  const soon = 'The cluster expects to start it in about 1 min';
  assert.equal(estimates.describe(job('PENDING', now - 5 * MINUTE), now), `${soon}.`);
  // The cluster's clock, or its word for a job that it has just started.
  estimates.observe(new Map([['odd', job('PENDING', now + 60 * MINUTE)]]), now);
  estimates.observe(new Map([['odd', job('RUNNING', 0)]]), now);
  assert.equal(estimates.describe(job('PENDING', now), now), `${soon}; lately such estimates were off by about 1 h.`);
});
