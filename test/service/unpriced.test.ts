import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { embeddedServeOptions } from '../../src/service/embeddedOptions.ts';
import { readConfig } from '../../src/service/serviceConfig.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { PageClient } from './support/servicePage.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

const PAID = `
[[machine_classes]]
name = "paid"
credits_per_minute = 0.2
`;
const FREE = `
[[machine_classes]]
name = "free"
credits_per_minute = 0
`;
const OWN = `
[[machine_classes]]
name = "own"
description = "our own"
cpus = 4
memory_gb = 0.1
`;
const FILES = { 'a.sh': 'true' };
const onClass = (machine_class: string) => ({ script: 'a.sh', machine_class, project: 'vision' });

async function start(t: TestContext, classes: string): Promise<ServiceClient> {
  const file = join(await temporaryFolder(t), 'service.toml');
  await writeFile(file, classes);
  const { machine_classes } = await readConfig(file);
  return startService(t, { config: { ...testConfig(), machine_classes } });
}

async function pageOf(service: ServiceClient, { key }: ServiceClient, path = '/'): Promise<string> {
  const browser = new PageClient(service);
  await browser.signIn(key);
  return (await browser.get(path)).text();
}

test('a class without a price is in the rate card without one, and its jobs cost nothing and have their machine', async (t) => {
  const service = await start(t, PAID + FREE + OWN);
  const me = await service.json<{ features: string[]; rate_card: Record<string, unknown>[] }>('/v1/me');
  assert.ok(me.features.includes('unpriced'));
  assert.deepEqual(
    me.rate_card.map((rate) => [rate['machine_class'], rate['credits_per_minute'], 'credits_per_minute' in rate]),
    [
      ['paid', 0.2, true],
      ['free', 0, true],
      ['own', undefined, false],
    ],
  );
  const response = await service.send(FILES, onClass('own'));
  const { job_id: id, ...credits } = (await response.json()) as { job_id: string };
  assert.deepEqual(credits, { credit_hold: 0, credits_remaining: 1_000 });
  const machineOf = (job: object) => {
    const { credits_charged, unpriced_cpus, unpriced_gpus } = job as Record<string, unknown>;
    return [credits_charged, unpriced_cpus, unpriced_gpus];
  };
  assert.deepEqual(machineOf(await service.untilEnd(id)), [0, 4, 0]);
  assert.deepEqual(machineOf((await service.events(id)).at(-1)?.data ?? {}), [0, 4, 0]);
  const free = await service.submit(FILES, onClass('free'));
  assert.deepEqual(machineOf(await service.untilEnd(free)), [0, null, null]);
  assert.deepEqual(machineOf((await service.events(free)).at(-1)?.data ?? {}), [0, undefined, undefined]);
  assert.equal(await service.credits(), 1_000);
});

test('budgets of accounts, keys, groups and projects in credits do not limit jobs without a price', async (t) => {
  const service = await start(t, PAID + OWN);
  const { client } = await addAccount(service, 'bob');
  using admin = await openAdmin(service.data, { mayCreate: false });
  const { key } = await admin.call('keys.add', { account_id: 'bob', budget: 2 });
  const agent = service.withKey(key);
  await agent.untilEnd(await agent.submit(FILES, onClass('paid')));
  await admin.call('projects.add', { name: 'vision', credits: 0 });
  await admin.call('groups.add', { name: 'lab', credits: 0 });
  await admin.call('accounts.edit', { account_id: 'bob', group: 'lab' });
  for (const one of [client, agent]) {
    assert.equal((await one.send(FILES, onClass('paid'))).status, 402);
    await one.untilEnd(await one.submit(FILES, onClass('own')));
  }
  await service.stop();
  // The store checks at each start that budgets are kept.
  const again = await startService(t, { data: service.data, apiKey: service.key });
  assert.equal((await again.request('/v1/me')).status, 200);
});

test('the page shows core-hours for jobs without a price, and no credits if no class has a price', async (t) => {
  const both = await start(t, PAID + OWN);
  const { client } = await addAccount(both, 'ada');
  await client.untilEnd(await client.submit({ 'a.sh': 'sleep 1' }, onClass('own')));
  await client.untilEnd(await client.submit(FILES, onClass('paid')));
  const page = await pageOf(both, client);
  assert.match(page, /Credits to spend/);
  assert.match(page, />0\.00\d+ core-hours</);
  assert.match(page, />Cost</);
  const own = await start(t, OWN);
  const { client: other } = await addAccount(own, 'ada');
  const job = await other.submit({ 'a.sh': 'sleep 1' }, onClass('own'));
  await other.untilEnd(job);
  for (const path of ['/', `/jobs/${job}`]) {
    const shown = await pageOf(own, other, path);
    assert.match(shown, />0\.00\d+ core-hours</);
    assert.doesNotMatch(shown, /[Cc]redits/);
  }
});

test('the command line shows core-hours for classes without a price, beside the credits of the others', async () => {
  await using scratch = await Scratch.create();
  const config = join(scratch.root, 'classes.toml');
  await writeFile(config, PAID + OWN);
  const { env, data } = await scratch.serve(['--config', config]);
  const folder = await scratch.folder('project', { 'a.sh': 'sleep 1' });
  const run = async (...args: readonly string[]) => {
    const done = await scratch.run(args, { env });
    assert.equal(done.exit, 0, done.stderr);
    return done;
  };
  const submit = ['submit', folder, '--script', 'a.sh', '--max-runtime', '3600', '--machine-class'];
  const dry = await run(...submit, 'own', '--dry-run', '--json');
  const [estimate] = jsonLines(dry.stdout);
  assert.deepEqual(
    ['max_credits', 'max_core_hours', 'max_gpu_hours'].map((name) => estimate?.[name]),
    [0, 4, 0],
  );
  const own = await run(...submit, 'own', '--watch');
  assert.match(own.stderr, /will be sent to .*\. Up to 4 core-hours\.$/m);
  assert.match(own.stderr, /^ *accepted as job \w+$/m);
  assert.match(own.stderr, /succeeded after .* · 0\.00\d+ core-hours/);
  const paid = await run(...submit, 'paid', '--watch');
  assert.match(paid.stderr, /At most 12 credits of 1,000\./);
  assert.match(paid.stderr, /accepted as job \w+, 12 credits held, 988 left/);
  const { stdout } = await run('jobs');
  const [head, ...rows] = stdout.trimEnd().split('\n');
  assert.match(head ?? '', /CREDITS +CORE-HOURS +SENT/);
  assert.equal(rows.length, 2);
  assert.match(rows[1] ?? '', /own .* s +0\.00\d+ /);
  const me = await run('me');
  assert.match(me.stdout, /^1,000 credits, plan /);
  assert.match(me.stdout, /MACHINE +CREDITS\/MIN +CORES +GPUS/);
  assert.match(me.stdout, /^own +4 +0 +our own$/m);
  const [job] = jsonLines((await run('jobs', '--json')).stdout)
    .flatMap(({ jobs }) => jobs as { job_id: string }[])
    .slice(-1);
  const seen = await run('admin', 'job', job?.job_id ?? '', '--data', data);
  assert.match(seen.stdout, /^used +0\.00\d+ core-hours$/m);
  assert.doesNotMatch(seen.stdout, /^credits/m);
  assert.match((await run('job', job?.job_id ?? '')).stdout, /^used +0\.00\d+ core-hours$/m);
});

test('the own machine has no prices and shows no credits', async () => {
  await using scratch = await Scratch.create();
  const me = await scratch.run(['me']);
  assert.match(me.stdout, /^Jobs cost no credits, plan local on this machine\.\n\nMACHINE +CORES +GPUS/, me.stderr);
  const folder = await scratch.folder('project', { 'a.sh': 'true' });
  const sent = await scratch.run(['submit', folder, '--script', 'a.sh', '--max-runtime', '3600', '--watch']);
  assert.match(sent.stderr, new RegExp(`Up to ${availableParallelism()} core-hours?\\.$`, 'm'));
  const jobs = await scratch.run(['jobs']);
  assert.match(jobs.stdout, /CORE-HOURS/);
  for (const shown of [sent, jobs]) assert.doesNotMatch(shown.stdout + shown.stderr, /credits/i);
});

test('the own machine has the prices that its user writes, and runs jobs as before', async () => {
  await using scratch = await Scratch.create();
  const file = join(scratch.home, 'service.toml');
  await mkdir(scratch.home, { recursive: true, mode: 0o700 });
  await writeFile(file, PAID, { mode: 0o600 });
  const { config } = await embeddedServeOptions(scratch.home, { runner: '', version: '' });
  assert.partialDeepStrictEqual(config['process'], { isolation: 'none', nice: 0 });
  const me = await scratch.run(['me']);
  assert.match(
    me.stdout,
    /^1,000 credits, plan local on this machine\.\n\nMACHINE +CREDITS\/MIN.*\npaid +0\.2/,
    me.stderr,
  );
  const folder = await scratch.folder('project', { 'a.sh': 'true' });
  const sent = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch']);
  assert.match(sent.stderr, /At most 12 credits of 1,000\./);
});

test('a configuration of the own machine that is not valid, or that others can write, is refused with the reason', async () => {
  await using scratch = await Scratch.create();
  await mkdir(scratch.home, { recursive: true, mode: 0o700 });
  const file = join(scratch.home, 'service.toml');
  const options = () => embeddedServeOptions(scratch.home, { runner: '', version: '' });
  for (const [text, reason] of [
    [PAID.replace('0.2', '-1'), /credits_per_minute/],
    ['process = 7', /process/],
  ] as const) {
    await writeFile(file, text, { mode: 0o600 });
    await assert.rejects(options(), { code: 'bad-input', message: reason });
  }
  if (process.getuid === undefined) return;
  await chmod(file, 0o666);
  await assert.rejects(options(), { code: 'refused', message: /service\.toml/ });
});
