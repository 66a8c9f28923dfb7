import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { makeArchive } from './support/archive.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const FILES = { 'a.sh': 'true' };
// 600 s at 0.1 credits a minute.
const HOLD = 1;
const META = JSON.stringify({ script: 'a.sh', max_runtime: 600, project: 'vision' });
const GENEROUS = { requests_per_minute: 1_000_000, uploads: 100, queued_jobs: 10_000 };

test('200 submissions at once by the accounts of a group never overspend it', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(2) });
  const clients = [
    (await addAccount(service, 'ada', { limits: GENEROUS })).client,
    (await addAccount(service, 'bob', { limits: GENEROUS })).client,
  ];
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('groups.add', { name: 'lab', credits: 20.5 });
  for (const id of ['ada', 'bob']) await admin.call('accounts.edit', { account_id: id, group: 'lab' });
  const archive = await makeArchive(FILES);
  const used: number[] = [];
  const accepted: { client: number; id: string }[] = [];
  const statuses = new Map<number, number>();
  const submit = async (index: number): Promise<void> => {
    const response = await clients[index % 2]?.upload(archive, META);
    const body = (await response?.json()) as { job_id?: string; detail?: string };
    statuses.set(response?.status ?? 0, (statuses.get(response?.status ?? 0) ?? 0) + 1);
    if (body.job_id !== undefined) accepted.push({ client: index % 2, id: body.job_id });
    if (response?.status === 402) assert.match(body.detail ?? '', /left|group "lab"/);
    if (response?.status === 429) assert.match(body.detail ?? '', /uploads/);
  };
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      for (let index = worker; index < 200; index += 16) {
        await submit(index);
        const { groups } = await admin.call('groups.list', {});
        used.push(groups[0]?.credits_used ?? Number.NaN);
      }
    }),
  );
  assert.ok(
    used.every((credits) => credits <= 20.5),
    `${Math.max(...used)} used`,
  );
  assert.ok(accepted.length >= 20 && (statuses.get(402) ?? 0) > 0, JSON.stringify([...statuses]));
  const ended = await Promise.all(accepted.map(async ({ client, id }) => clients[client]?.untilEnd(id)));
  const charged = ended.reduce((sum, job) => sum + Math.round((job?.credits_charged ?? 0) * 1e6), 0);
  const { groups } = await admin.call('groups.list', {});
  assert.equal(Math.round((groups[0]?.credits_used ?? 0) * 1e6), charged, 'exactly what its jobs cost');
  const day = new Date().toISOString().slice(0, 10);
  const usage = await admin.call('usage.report', { from: day, to: day, by: ['group'] });
  assert.deepEqual(
    usage.rows.map(({ group, credits }) => [group, Math.round(credits * 1e6)]),
    [['lab', charged]],
  );
});

test('a group and a project that are used up refuse with a sentence that names them, and clients see what is left', async (t) => {
  await using scratch = await Scratch.create();
  const service = await startService(t, { config: jobsAtOnce(2) });
  const { client } = await addAccount(service, 'ada');
  const admin = async (...args: string[]) => {
    const done = await scratch.run(['admin', ...args, '--data', service.data]);
    assert.equal(done.exit, 0, done.stderr);
    return done.stdout;
  };
  assert.equal(
    await admin('group', 'add', 'lab', '--credits', '2.5', '--running-jobs', '1'),
    'Group lab: 2.5 credits, 0 used, at most 1 job at once; no accounts\n',
  );
  assert.match(await admin('account', 'edit', 'ada', '--group', 'lab'), /^ada: ada, plan team, group lab\n$/);
  assert.match(await admin('project', 'add', 'vision', '--credits', '1.5'), /^Project vision: 1\.5 credits, 0 used\n$/);
  assert.equal(await client.credits(), 2.5);
  const first = await client.submit({ 'a.sh': GATE }, { script: 'a.sh', project: 'vision' });
  await client.untilRunning(first);
  const ofProject = await client.send(FILES, { script: 'a.sh', project: 'vision' });
  assert.equal(ofProject.status, 402);
  assert.match(
    ((await ofProject.json()) as { detail: string }).detail,
    /needs 1 credits .* only 0\.5 of the budget of the project "vision" are left/,
  );
  const second = await client.submit(FILES, { script: 'a.sh' });
  const ofGroup = await client.send(FILES, { script: 'a.sh' });
  assert.equal(ofGroup.status, 402);
  assert.match(
    ((await ofGroup.json()) as { detail: string }).detail,
    /only 0\.5 of the credits of the group "lab" are left/,
  );
  const env = { FARWHARF_REMOTE_HOST: client.url, FARWHARF_API_KEY: client.key };
  const folder = await scratch.folder('project', FILES);
  const submitted = await scratch.run(['submit', folder, '--script', 'a.sh', '--project', 'vision', '--time', '5m'], {
    env,
  });
  assert.notEqual(submitted.exit, null);
  assert.equal((await client.job(second)).state, 'queued', 'the group runs one job at once');
  assert.match(await admin('group', 'list'), /lab +2\.5 +2/);
  assert.match(await admin('project', 'list'), /vision +1\.5/);

  await admin('group', 'edit', 'lab', '--running-jobs', 'none');
  assert.equal((await client.untilEnd(second)).state, 'succeeded');
  assert.match(
    await admin('group', 'remove', 'lab'),
    /^Group lab was removed\. It had 1 account, whose jobs continue\.\n$/,
  );
  assert.match(await admin('project', 'remove', 'vision'), /no budget any more/);
  assert.ok((await client.credits()) > 900);
  await openGate(service.data, first);
  assert.equal((await client.untilEnd(first)).state, 'succeeded');
  const audit = await admin('audit', '--verb', 'groups', '--json');
  assert.match(audit, /"groups\.remove"/);
  assert.match(audit, /"credits_used"/);
});

test('after a kill, groups and projects have used exactly what their jobs cost', async (t) => {
  const home = await temporaryFolder(t);
  const config = testConfig({ isolation: 'none', max_jobs: 1 });
  const first = await ServiceProcess.start(home, { config });
  t.after(() => first.end('SIGKILL'));
  const { client } = await addAccount(first.client, 'ada');
  {
    using admin = await openAdmin(first.client.data, { mayCreate: false });
    await admin.call('groups.add', { name: 'lab', credits: 5 });
    await admin.call('accounts.edit', { account_id: 'ada', group: 'lab' });
    await admin.call('projects.add', { name: 'vision', credits: 5 });
  }
  const running = await client.submit({ 'a.sh': GATE }, { script: 'a.sh', project: 'vision' });
  await client.untilRunning(running);
  await client.submit(FILES, { script: 'a.sh', project: 'vision' });
  await first.end('SIGKILL');
  const second = await ServiceProcess.start(home, { config });
  t.after(() => second.end('SIGTERM'));
  using admin = await openAdmin(second.client.data, { mayCreate: false });
  const used = async () => {
    const [group] = (await admin.call('groups.list', {})).groups;
    const [project] = (await admin.call('projects.list', {})).projects;
    return [group?.credits_used, project?.credits_used];
  };
  assert.deepEqual(await used(), [2 * HOLD, 2 * HOLD]);
  const again = second.client.withKey(client.key);
  await openGate(second.client.data, running);
  const { jobs } = await again.json<{ jobs: { job_id: string }[] }>('/v1/jobs');
  const ended = await Promise.all(jobs.map(({ job_id: id }) => again.untilEnd(id)));
  const charged = ended.reduce((sum, job) => sum + (job.credits_charged ?? 0), 0);
  assert.deepEqual(
    (await used()).map((credits) => Math.round((credits ?? 0) * 1e6)),
    [charged, charged].map((credits) => Math.round(credits * 1e6)),
  );
});
