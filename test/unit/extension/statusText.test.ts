import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StatusFacts, statusView } from '../../../src/extension/statusText.ts';
import { runningJob } from './jobs.ts';

const NOW = Date.parse('2026-11-20T12:04:05.000Z');
const facts: StatusFacts = {
  host: 'local',
  state: 'ready',
  refusal: undefined,
  account: {
    plan: 'team',
    balance: 312,
    rates: [{ machineClass: 'a10g', creditsPerMinute: 0.3, description: 'one A10G | 24 GB' }],
    asOf: '2026-11-20T12:00:00.000Z',
  },
  jobs: [],
  spent: [],
  budgets: [],
  hasFolder: true,
  lowCredits: 10,
  now: NOW,
};

test('while idle the balance is all there is', () => {
  const view = statusView(facts);
  assert.equal(view.text, '$(rocket) 312 cr');
  assert.equal(view.spoken, 'Farwharf, 312 credits left');
  assert.equal(view.isWarning, false);
});

test('while jobs run their number stands beside what is left after what they have cost', () => {
  const view = statusView({
    ...facts,
    account: { ...facts.account, balance: 294 } as StatusFacts['account'],
    jobs: [runningJob({ createdAt: '2026-11-20T11:59:00.000Z' })],
  });
  assert.equal(view.text, '$(sync~spin) 1 · 310.8 cr');
  assert.match(view.tooltip, /train\\\.py/);
});

test('a hold that the balance does not know of yet is not given back', () => {
  const justSubmitted = runningJob({ createdAt: '2026-11-20T12:00:01.000Z' });
  assert.equal(statusView({ ...facts, jobs: [justSubmitted] }).text, '$(sync~spin) 1 · 310.8 cr');
});

test('jobs of other hosts are counted, but cost nothing here', () => {
  const view = statusView({ ...facts, jobs: [runningJob({ host: 'https://gpu.example.org' })] });
  assert.equal(view.text, '$(sync~spin) 1 · 312 cr');
});

test('it warns under the threshold, not at it', () => {
  const account = { ...facts.account, balance: 10 } as StatusFacts['account'];
  assert.equal(statusView({ ...facts, account }).isWarning, false);
  assert.equal(statusView({ ...facts, account, lowCredits: 10.5 }).isWarning, true);
});

test('it offers to sign in when signed out', () => {
  const { text, command, tooltip } = statusView({ ...facts, state: 'signedOut' });
  assert.deepEqual([text, command], ['$(key) Sign In', 'farwharf.signIn']);
  assert.match(tooltip, /Sign in with the API key of your account/);
});

test('an account that the service refuses is not asked to sign in, and learns why', () => {
  const refusal = 'The account *ada* is disabled. Ask the operator of the service to enable it.';
  const { text, command, tooltip, isWarning } = statusView({ ...facts, state: 'refused', refusal });
  assert.deepEqual([text, command, isWarning], ['$(circle-slash) Account Refused', 'farwharf.selectHost', true]);
  assert.match(tooltip, /The account \\\*ada\\\* is disabled/);
});

test('a host that cannot be used is reported, and another one can be selected', () => {
  const { text, command, tooltip, spoken } = statusView({ ...facts, host: undefined, state: 'unusable' });
  assert.deepEqual([text, command], ['$(warning) Select Host', 'farwharf.selectHost']);
  for (const shown of [tooltip, spoken]) assert.match(shown, /The selected host cannot be used/);
});

test('a balance that is not known is not made up', () => {
  const view = statusView({ ...facts, account: undefined });
  assert.equal(view.text, '$(rocket)');
  assert.equal(view.isWarning, false);
});

test('a service that does not respond is reported, with its last known state', () => {
  const view = statusView({ ...facts, state: 'unreachable' });
  assert.equal(view.text, '$(debug-disconnect) 312 cr');
  assert.match(view.tooltip, /does not respond/);
});

test('the rate card is a table whose cells cannot break it', () => {
  assert.match(statusView(facts)?.tooltip ?? '', /\| a10g \| 0\.3 \| one A10G \\\| 24 GB \|/);
});

test('without any price there is no balance, no warning and no column of prices', () => {
  const unpriced = { creditsPerMinute: null, machine: { cpus: 8, gpus: 1 }, description: 'this machine' };
  const account = {
    plan: 'local',
    balance: null,
    rates: [{ machineClass: 'local', ...unpriced }],
    asOf: '2026-11-20T12:00:00.000Z',
  };
  const job = runningJob({
    creditsPerMinute: null,
    unpricedCpus: 8,
    unpricedGpus: 1,
    createdAt: '2026-11-20T11:34:00.000Z',
    startedAt: '2026-11-20T11:34:05.000Z',
    maxRuntime: 3_600,
  });
  const view = statusView({ ...facts, account, jobs: [job] });
  assert.deepEqual([view.text, view.isWarning], ['$(sync~spin) 1', false]);
  assert.equal(view.spoken, 'Farwharf, 1 job runs');
  assert.match(view.tooltip, /^Jobs cost no credits, plan local · as of /m);
  assert.match(view.tooltip, /4 core\\?-hours, 0\\?\.5 GPU\\?-hours so far, up to 8 core\\?-hours, 1 GPU\\?-hour/);
  assert.match(view.tooltip, /^\| Machine class \| {2}\|\n\| :-- \| :-- \|\n\| local \| this machine \|$/m);
  assert.doesNotMatch(view.tooltip, /balance|[Cc]redits a minute/);
  const rates = [...account.rates, ...(facts.account?.rates ?? [])];
  const both = statusView({ ...facts, account: { ...account, balance: 5, rates } });
  assert.deepEqual([both.text, both.isWarning], ['$(rocket) 5 cr', true]);
  assert.match(both.tooltip, /\| local \| no price \| this machine \|\n\| a10g \| 0\.3 \|/);
});

test('a window without a folder does not offer to submit one', () => {
  assert.match(statusView(facts).tooltip, /submitWorkspace/);
  assert.doesNotMatch(statusView({ ...facts, hasFolder: false }).tooltip, /submitWorkspace/);
});

test('the hover links to commands of our own only', () => {
  const tooltip = statusView({ ...facts, jobs: [runningJob({ script: '[x](command:evil)' })] }).tooltip ?? '';
  const links = [...tooltip.matchAll(/(?<!\\)\]\(([^)]*)\)/g)].map(([, target = '']) => target);
  assert.deepEqual(links, [
    'command:farwharf.submitWorkspace',
    'command:farwharf.jobs.focus',
    'command:farwharf.selectHost',
    'command:farwharf.setBudget',
  ]);
});

test('the hover says what jobs were charged today and this month', () => {
  assert.doesNotMatch(statusView(facts).tooltip, /Spent/);
  const spent = [
    { project: 'vision|x', today: 1.5, thisMonth: 20 },
    { project: null, today: 0, thisMonth: 4 },
  ];
  const { tooltip } = statusView({ ...facts, spent });
  assert.match(tooltip, /Spent by jobs from this machine: 1\\?\.5 credits today, 24 this month/);
  assert.match(tooltip, /vision\\\|x 20, no project 4/);
});

test('it warns if the credits do not last as long as the running jobs may', () => {
  const account = { ...facts.account, balance: 100 } as StatusFacts['account'];
  const job = runningJob({
    creditHold: null,
    creditsPerMinute: 10,
    startedAt: new Date(NOW).toISOString(),
    maxRuntime: 3600,
  });
  const view = statusView({ ...facts, account, jobs: [job] });
  assert.equal(view.isWarning, true);
  assert.match(view.tooltip, /credits end in 10 min/);
  const elsewhere = statusView({ ...facts, account, jobs: [{ ...job, host: 'https://gpu.example.org' }] });
  assert.equal(elsewhere.isWarning, false);
});

test('budgets are in the hover with what is spent and reserved of them, and one that is exceeded warns', () => {
  const vision = { project: 'vision|[x](y)', budget: { soft: 50, hard: 100 }, spent: 20, reserved: 5 };
  const view = statusView({ ...facts, budgets: [vision, { project: '', budget: { hard: 9 }, spent: 1, reserved: 0 }] });
  assert.match(view.tooltip, /\| 20 \| 5 \| 50 \| 100 \|\n\| no project \| 1 \| 0 \|  \| 9 \|/);
  assert.doesNotMatch(view.tooltip, /\[x\]\(y\)/);
  assert.match(view.tooltip, /\(command:farwharf\.setBudget\)/);
  assert.equal(view.isWarning, false);
  const exceeded = statusView({ ...facts, budgets: [{ ...vision, reserved: 31 }] });
  assert.equal(exceeded.isWarning, true);
  assert.match(exceeded.tooltip, /\| \$\(warning\) vision/);
});
