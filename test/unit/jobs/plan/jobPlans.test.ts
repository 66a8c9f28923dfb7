import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { planSubmit } from '../../../../src/jobs/plan/plan.ts';
import { jobFindings, type JobPlans } from '../../../../src/jobs/plan/jobPlans.ts';
import { tempHome } from '../fixtures.ts';

// One job of a minute can cost one credit.
const ACCOUNT = { account_id: 'ada', credits: 100, rate_card: [{ machine_class: 'cpu', credits_per_minute: 1 }] };

/** A sweep with a job for each of these projects. */
async function planOf(
  t: TestContext,
  projects: readonly (string | undefined)[],
  { machineClass = 'cpu', maxCost }: { machineClass?: string; maxCost?: number } = {},
): Promise<JobPlans> {
  const folder = tempHome(t);
  writeFileSync(join(folder, 'train.py'), 'print("hello")\n');
  const selection = await new Selections().select(folder, { isTrusted: false });
  const target = { host: 'https://gpu.example.org', service: 'the service', account: ACCOUNT };
  const terms = { include: [], exclude: [], machineClass, maxRuntime: 60 };
  return {
    name: 'train',
    limits: { concurrency: undefined, maxCost },
    jobs: projects.map((project, lr) => {
      const draft = { ...terms, script: `train.py ${lr}`, ...(project !== undefined && { project }) };
      return { parameters: { lr }, plan: planSubmit(target, draft, selection) };
    }),
  };
}

/** Asks for the findings with a budget check that says for what it was asked. */
function askedBudgets(plan: JobPlans): unknown[] {
  const asked: unknown[] = [];
  jobFindings(plan, (project, highest) => {
    asked.push([project, highest]);
    return [];
  });
  return asked;
}

test('what the service would refuse of several jobs is said once', async (t) => {
  const findings = jobFindings(await planOf(t, [undefined, undefined, 'a'], { machineClass: 'h100' }));
  assert.deepEqual(
    findings.map(({ type }) => type),
    ['machine-class'],
  );
});

test('a budget is asked once for each project, about all of its jobs together', async (t) => {
  assert.deepEqual(askedBudgets(await planOf(t, ['a', undefined, 'a', 'a'])), [
    ['a', 3],
    [undefined, 1],
  ]);
});

test('a sweep costs at most its limit, and an unknown price stays unknown', async (t) => {
  assert.deepEqual(askedBudgets(await planOf(t, ['a', 'a', 'a'], { maxCost: 2 })), [['a', 2]]);
  assert.deepEqual(askedBudgets(await planOf(t, ['a', 'a', 'a'], { maxCost: 20 })), [['a', 3]]);
  assert.deepEqual(askedBudgets(await planOf(t, ['a'], { machineClass: 'h100', maxCost: 2 })), [['a', undefined]]);
});

test('budgets speak about the whole sweep, not about each job', async (t) => {
  const plan = await planOf(t, ['a', 'a']);
  const ofOne = { type: 'budget', severity: 'warning', summary: 'One job is over', detail: '' } as const;
  const ofAll = { ...ofOne, summary: 'All jobs are over' };
  const jobs = plan.jobs.map((job) => ({ ...job, plan: { ...job.plan, findings: [ofOne] } }));
  assert.deepEqual(
    jobFindings({ ...plan, jobs }, () => [ofAll]),
    [ofAll],
  );
});
