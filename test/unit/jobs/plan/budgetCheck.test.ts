import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { readBudgets, writeBudget } from '../../../../src/jobs/ledger/projectBudgets.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { budgetCheck, budgetStates } from '../../../../src/jobs/plan/budgetCheck.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

const now = new Date().toISOString();
const done = { state: 'succeeded', finishedAt: now, createdAt: now };
// It can still cost 10.
const running = { state: 'running', createdAt: now, creditsPerMinute: 1, maxRuntime: 600 };

test('a job that could exceed a budget is refused or warned about, counting what unfinished jobs may cost', async (t) => {
  const home = tempHome(t);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  await writeBudget(home, 'vision', { soft: 50, hard: 100 });
  await writeBudget(home, '', { hard: 5 });
  for (const fields of [
    { ...done, project: 'vision', creditsCharged: 30 },
    { ...running, project: 'vision' },
    { ...running, project: 'other' },
    { ...running, project: 'vision', host: 'https://gpu.example.org' },
    // An earlier month is not counted.
    { ...done, project: 'vision', creditsCharged: 99, finishedAt: '2020-01-01T00:00:00Z' },
  ]) {
    jobs.insert(makeRecord(fields));
  }
  const deps = { home, ledger: directLedger(jobs) };
  const states = await budgetStates(deps, 'local');
  assert.deepEqual(
    states.map(({ project, spent, reserved }) => [project, spent, reserved]),
    [
      ['vision', 30, 10],
      ['', 0, 0],
    ],
  );
  const check = await budgetCheck(deps, 'local');
  const severities = (project: string | undefined, cost: number | undefined): readonly string[] =>
    check(project, cost).map(({ severity }) => severity);
  assert.deepEqual(
    [10, 11, 60, 61].map((cost) => severities('vision', cost).join()),
    ['', 'warning', 'warning', 'error'],
  );
  assert.deepEqual(severities('vision', undefined), ['error'], 'without a price, the hard budget cannot be kept');
  assert.deepEqual([severities(undefined, 6), severities('other', 1_000)], [['error'], []]);
  const [finding] = check('vision', 61);
  assert.match(finding?.detail ?? '', /^It can cost up to 61, and 40 of 100 credits are spent or reserved/);
  // A job that ended unnoticed no longer reserves its limit.
  const service = {
    me: async () => ({}),
    getJob: async () => ({ state: 'succeeded', exit_code: 0, credits_charged: 1, finished_at: now }),
  };
  const [vision] = await budgetStates({ ...deps, service }, 'local');
  assert.deepEqual([vision?.spent, vision?.reserved], [31, 0]);
  await writeBudget(home, 'vision', { hard: 20 });
  assert.deepEqual(
    (await budgetCheck(deps, 'local'))('vision', 0),
    [],
    'a job that costs nothing fits in a budget that is used up',
  );
  assert.equal((await budgetCheck(deps, 'local'))('vision', 0.1).length, 1);
  await writeBudget(home, 'vision', undefined);
  assert.deepEqual(await readBudgets(home), { '': { hard: 5 } });
});

test('damaged budgets stop a submit instead of being ignored', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'budgets.json'), '{ "vision": { "hard": "100" } }');
  await assert.rejects(readBudgets(home), {
    code: 'corrupt',
    message: /nothing was sent\. Correct or remove .*budgets\.json/,
  });
});

test('of a service that does not respond, one job is asked about, and all keep what they reserve', async (t) => {
  const home = tempHome(t);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  await writeBudget(home, 'vision', { hard: 100 });
  for (let count = 0; count < 3; count += 1) jobs.insert(makeRecord({ ...running, project: 'vision' }));
  let asked = 0;
  const service = {
    me: async () => ({}),
    getJob: async () => {
      asked += 1;
      throw new Error('no route to host');
    },
  };
  const [vision] = await budgetStates({ home, ledger: directLedger(jobs), service }, 'local');
  assert.deepEqual([vision?.spent, vision?.reserved, asked], [0, 30, 1]);
});

test('a service is asked only about jobs that have a budget, each once', async (t) => {
  const home = tempHome(t);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  await writeBudget(home, '', { hard: 100 });
  const own = [makeRecord(running), makeRecord(running)];
  for (const record of [...own, makeRecord({ ...running, project: 'other' })]) jobs.insert(record);
  const asked: string[] = [];
  const service = {
    me: async () => ({}),
    getJob: async (id: string) => {
      asked.push(id);
      return { state: 'running' };
    },
  };
  const [state] = await budgetStates({ home, ledger: directLedger(jobs), service }, 'local');
  assert.deepEqual(new Set(asked), new Set(own.map(({ jobId }) => jobId)));
  assert.deepEqual([asked.length, state?.reserved], [2, 20]);
});

test('without a price list, a job reserves what the service holds for it', async (t) => {
  const home = tempHome(t);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  await writeBudget(home, '', { soft: 4 });
  jobs.insert(makeRecord({ ...running, creditsPerMinute: null, creditHold: 3 }));
  jobs.insert(makeRecord({ ...running, creditsPerMinute: null, creditHold: null }));
  const check = await budgetCheck({ home, ledger: directLedger(jobs) }, 'local');
  assert.deepEqual([check(undefined, 1), check(undefined, undefined)], [[], []]);
  const [finding, ...others] = check(undefined, 2);
  assert.deepEqual([finding?.severity, others], ['warning', []]);
  assert.match(finding?.detail ?? '', /^It can cost up to 2, and 3 of 4 credits/);
});

test('a budget that is exceeded is said with its project, the limit and the price', async (t) => {
  const home = tempHome(t);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  await writeBudget(home, 'vision', { soft: 5, hard: 10 });
  await writeBudget(home, '', { soft: 5, hard: 10 });
  const check = await budgetCheck({ home, ledger: directLedger(jobs) }, 'local');
  const said = (project: string | undefined, cost: number | undefined): string =>
    check(project, cost)
      .map(({ summary, detail }) => `${summary}. ${detail}`)
      .join();
  const of = (limit: number): string => `0 of ${limit} credits are spent or reserved by unfinished jobs.`;
  assert.equal(
    said('vision', 11),
    `This submit could exceed the budget of project vision for this month. It can cost up to 11, and ${of(10)}`,
  );
  assert.equal(
    said('vision', 6),
    `This submit could use up the budget of project vision for this month. It can cost up to 6, and ${of(5)}`,
  );
  assert.equal(
    said(undefined, 11),
    `This submit could exceed the budget of jobs without a project for this month. It can cost up to 11, and ${of(10)}`,
  );
  assert.equal(
    said('', 6),
    `This submit could use up the budget of jobs without a project for this month. It can cost up to 6, and ${of(5)}`,
  );
  assert.equal(
    said('vision', undefined),
    `This submit could exceed the budget of project vision for this month. The price of this submit is unknown, and ${of(10)}`,
  );
  assert.deepEqual([said('vision', 5), said('vision', 10)], ['', said('vision', 10)]);
  assert.equal(said('vision', 10).startsWith('This submit could use up'), true);
});
