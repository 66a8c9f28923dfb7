import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import type { JobRecord } from '../../../../src/jobs/ledger/record.ts';
import { secondsUntilEmpty } from '../../../../src/jobs/plan/balance.ts';
import { currentPeriods, describeSpending } from '../../../../src/jobs/ledger/spending.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

const NOW = new Date(2026, 10, 20, 12, 0).getTime();
const iso = (...local: [number, number, number, number]): string => new Date(...local).toISOString();
const TODAY = iso(2026, 10, 20, 9);
const THIS_MONTH = iso(2026, 10, 3, 9);
const LAST_MONTH = iso(2026, 9, 31, 23);

function ended(finishedAt: string | null, creditsCharged: number | null, fields: Partial<JobRecord> = {}): JobRecord {
  const createdAt = finishedAt ?? TODAY;
  return makeRecord({ jobId: randomUUID(), state: 'succeeded', createdAt, finishedAt, creditsCharged, ...fields });
}

test('credits are added up by project, for today and for this month, each at the end of its job', (t) => {
  const ledger = new JobLedger(tempHome(t));
  const startedLastMonth = { createdAt: LAST_MONTH };
  for (const record of [
    ended(TODAY, 1, { project: 'vision' }),
    ended(THIS_MONTH, 2, { project: 'vision' }),
    ended(THIS_MONTH, 4, { project: 'nlp', ...startedLastMonth }),
    ended(LAST_MONTH, 8, { project: 'nlp' }),
    ended(TODAY, 16, { project: 'vision', host: 'https://gpu.example.org' }),
    ended(TODAY, null),
    ended(TODAY, 32, { removed: true }),
  ])
    ledger.insert(record);
  const spent = ledger.spending('local', currentPeriods(NOW));
  ledger.dispose();
  assert.deepEqual(spent, [
    { project: null, today: 32, thisMonth: 32 },
    { project: 'nlp', today: 0, thisMonth: 4 },
    { project: 'vision', today: 1, thisMonth: 3 },
  ]);
  assert.equal(describeSpending(spent), '33 credits today, 39 this month (no project 32, nlp 4, vision 3)');
});

test('times of services in other zones, without a time, or with none that can be read are placed right', (t) => {
  const ledger = new JobLedger(tempHome(t));
  const today = new Date(2026, 10, 20, 0, 30);
  const elsewhere = `${new Date(today.getTime() + 9 * 3600_000).toISOString().slice(0, 19)}+09:00`;
  for (const record of [
    ended(elsewhere, 1, { createdAt: THIS_MONTH }),
    ended(null, 2),
    ended('yesterday', 4, { createdAt: TODAY }),
  ])
    ledger.insert(record);
  assert.deepEqual(ledger.spending('local', currentPeriods(NOW)), [{ project: null, today: 7, thisMonth: 7 }]);
  ledger.dispose();
});

test('without a charge nothing is said, and without projects only the sums', () => {
  assert.equal(describeSpending([]), undefined);
  assert.equal(describeSpending([{ project: null, today: 0, thisMonth: 0 }]), undefined);
  assert.equal(describeSpending([{ project: null, today: 0, thisMonth: 2.5 }]), '0 credits today, 2.5 this month');
});

test('five projects are named, those that cost most, and more are hinted at', () => {
  const spent = Array.from({ length: 6 }, (_, index) => ({ project: `p${index}`, today: 0, thisMonth: 1 + index }));
  const named = 'p5 6, p4 5, p3 4, p2 3, p1 2';
  assert.equal(describeSpending(spent), `0 credits today, 21 this month (${named}, …)`);
  assert.equal(describeSpending(spent.slice(1)), `0 credits today, 20 this month (${named})`);
});

test('hours of classes without a price are added up by class, for this month, each at the end of its job', (t) => {
  const ledger = new JobLedger(tempHome(t));
  const hour = (
    finishedAt: string,
    machineClass: string | null,
    cpus: number | null,
    gpus = 0,
    fields = {},
  ): JobRecord =>
    ended(finishedAt, 0, {
      startedAt: new Date(Date.parse(finishedAt) - 3_600_000).toISOString(),
      machineClass,
      unpricedCpus: cpus,
      unpricedGpus: gpus,
      ...fields,
    });
  for (const record of [
    hour(TODAY, 'gpu', 16, 2),
    hour(THIS_MONTH, 'gpu', 16, 1, { removed: true }),
    hour(THIS_MONTH, null, 2),
    hour(LAST_MONTH, 'gpu', 16, 2),
    hour(TODAY, 'gpu', 16, 2, { host: 'https://gpu.example.org' }),
    hour(TODAY, 'priced', null),
    hour(TODAY, 'odd', 4, 0, { startedAt: 'yesterday' }),
    hour(TODAY, 'late', 4, 0, { startedAt: iso(2026, 10, 20, 11) }),
    hour(TODAY, 'never started', 4, 0, { startedAt: null }),
  ])
    ledger.insert(record);
  assert.deepEqual(ledger.use('local', currentPeriods(NOW)), [
    { machineClass: 'gpu', hours: { core: 32, gpu: 3 } },
    { machineClass: null, hours: { core: 2, gpu: 0 } },
  ]);
  ledger.dispose();
});

const running = (minutesAgo: number, fields: Partial<JobRecord> = {}): JobRecord =>
  makeRecord({
    jobId: randomUUID(),
    state: 'running',
    startedAt: new Date(NOW - minutesAgo * 60_000).toISOString(),
    creditsPerMinute: 2,
    maxRuntime: 3600,
    ...fields,
  });

test('a balance that is enough for the time limits of all jobs does not run out', () => {
  assert.equal(secondsUntilEmpty(100, [running(10)], NOW), undefined);
  assert.equal(secondsUntilEmpty(0, [], NOW), undefined);
  assert.equal(secondsUntilEmpty(0, [running(10, { creditsPerMinute: null })], NOW), undefined);
  assert.equal(secondsUntilEmpty(0, [running(60)], NOW), undefined, 'this job has reached its limit');
});

test('a balance that is too small runs out after the time that its credits last, slower once jobs have ended', () => {
  assert.equal(secondsUntilEmpty(40, [running(10)], NOW), 20 * 60);
  assert.equal(secondsUntilEmpty(-1, [running(10)], NOW), 0);
  const short = running(50, { creditsPerMinute: 4 });
  // Both cost 6 a minute for ten minutes, then one of them 2.
  assert.equal(secondsUntilEmpty(80, [running(10), short], NOW), (10 + 10) * 60);
});
