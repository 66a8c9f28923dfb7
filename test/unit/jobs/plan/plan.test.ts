import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import type { SubmitDraft } from '../../../../src/jobs/plan/draft.ts';
import { type SelectedFolder, summarizeSelection } from '../../../../src/jobs/selection/selectedFolder.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { planSubmit } from '../../../../src/jobs/plan/plan.ts';
import { sendPlan } from '../../../../src/jobs/send/pack.ts';
import { tempHome } from '../fixtures.ts';
import { connectTo } from '../testClient.ts';
import { sendJson, TestService } from '../testService.ts';

const draft: SubmitDraft = { script: 'train.py', maxRuntime: 600, machineClass: 'a10g', include: [], exclude: [] };
const account = {
  account_id: 'ada',
  credits: 10,
  rate_card: [{ machine_class: 'a10g', credits_per_minute: 0.5 }],
  limits: { max_runtime: 3600, max_upload_bytes: 1_000_000 },
};
const selectionOf = (...paths: readonly string[]): SelectedFolder => {
  const files = paths.map((path) => ({ path, size: 1, mode: 0o644, mtimeMs: 0 }));
  return summarizeSelection('1', { root: '/w', files, totalBytes: paths.length, excluded: [], findings: [] });
};

test('a plan has the cost, the findings and the limits of its draft', () => {
  const target = { host: 'https://gpu.example.org', service: 'gpu.example.org', account };
  const plan = planSubmit(target, draft, selectionOf('train.py'));
  assert.deepEqual(plan.estimate, { type: 'known', creditsPerMinute: 0.5, highest: 5, balance: 10 });
  assert.deepEqual(plan.findings, []);
  assert.deepEqual([plan.maxUploadBytes, plan.accountId, plan.rates.length], [1_000_000, 'ada', 1]);
  const dear = planSubmit(target, { ...draft, maxRuntime: 3000 }, selectionOf('train.py'));
  assert.deepEqual(
    dear.findings.map(({ summary }) => summary),
    ['You need 15 more credits'],
  );
});

test('the machine class for a batch script is chosen once, so that the user can choose another one', () => {
  const target = { host: 'https://gpu.example.org', service: 'gpu.example.org', account };
  const { machineClass: _, ...asked } = draft;
  const resources = { line: 2, option: '--gpus=1' };
  const of = { partitions: undefined, resources, cpus: undefined, memoryGb: undefined, gpus: 1, gpuType: undefined };
  const batch = { source: 'job.sbatch', remarks: [], request: of };
  const plan = planSubmit(target, { ...asked, batch }, selectionOf('train.py'));
  const choice = { machineClass: 'a10g', remarks: [] };
  assert.deepEqual(plan.draft, { ...draft, batch: { ...batch, request: undefined, choice } });
  const { machineClass: __, ...defaultClass } = plan.draft;
  assert.deepEqual(planSubmit(target, defaultClass, selectionOf('train.py')).draft, defaultClass);
});

test('a budget is asked with the highest cost of a job, or with none if the cost is unknown', () => {
  const asked: unknown[] = [];
  const budget = (project: string | undefined, cost: number | undefined) => {
    asked.push([project, cost]);
    return [];
  };
  const target = { host: 'https://gpu.example.org', service: 'gpu.example.org', account, budget };
  planSubmit(target, { ...draft, project: 'vision' }, selectionOf('train.py'));
  planSubmit({ ...target, account: { credits: 10 } }, draft, selectionOf('train.py'));
  assert.deepEqual(asked, [
    ['vision', 5],
    [undefined, undefined],
  ]);
});

test('a plan is sent with all its terms, and one with errors is not sent', async (t) => {
  const [home, folder] = [tempHome(t), tempHome(t)];
  writeFileSync(join(folder, 'train.py'), '');
  let body = '';
  const http = await TestService.start(t, {
    submit: async (request, response) => {
      body = Buffer.concat(await request.toArray()).toString('latin1');
      sendJson(response, { job_id: 'job-1' });
    },
  });
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  const selections = new Selections();
  const deps = { service: connectTo(http.url), selections, ledger: directLedger(ledger), home };
  const selection = await selections.select(folder, { isTrusted: false });
  const target = { host: http.url, service: 'test', account };
  const terms = { ...draft, project: 'tides', venv: { requirements: 'requirements.txt' } };

  const refused = planSubmit(target, { ...terms, machineClass: 'h100' }, selection);
  await assert.rejects(sendPlan(deps, refused, { isTrusted: false }), {
    code: 'bad-input',
    message: /h100.* Nothing was sent\.$/,
  });
  assert.equal(http.attempts.submit, 0);

  const record = await sendPlan(deps, planSubmit(target, terms, selection), { isTrusted: false });
  assert.match(body, /"machine_class":"a10g"/);
  assert.match(body, /"requirements":"requirements\.txt"/);
  assert.deepEqual(
    [record.account, record.project, record.creditsPerMinute, record.maxRuntime],
    ['ada', 'tides', 0.5, 600],
  );
});
