import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAdmin } from '../../../../../src/service/admin/adminClient.ts';
import type { UsageGroup } from '../../../../../src/service/admin/usageOperations.ts';
import { Store } from '../../../../../src/service/store/store.ts';

const MINUTE_MS = 60_000;

test('usage is what ended on the days asked for, by account, project or machine class, and what it cost is in the book', async (t) => {
  const data = await mkdtemp(join(tmpdir(), 'farwharf-usage-'));
  t.after(() => rm(data, { recursive: true }));
  const store = new Store(data);
  let number = 0;
  const run = async (
    account: string,
    machineClass: string,
    end: string,
    minutes: number,
    project: string | null = null,
  ): Promise<void> => {
    const id = `job${++number}`;
    const finishedAt = Date.parse(end);
    const startedAt = finishedAt - minutes * MINUTE_MS;
    const hold = 1_000_000;
    await store.submit(
      { id, account, machineClass, script: 'a', project, maxRuntime: 60, createdAt: startedAt, hold },
      [],
      { spec: '{}', archive: null, boot: '' },
    );
    const job = store.jobs.get(id);
    assert.ok(job);
    if (minutes > 0) store.setState(job, 'running', startedAt);
    const ending = { state: 'succeeded', finishedAt, exitCode: 0, reason: null, charged: minutes * 100_000 } as const;
    store.finish(job, ending, []);
  };
  for (const id of ['ada', 'bob']) {
    store.addAccount({ id, name: id.toUpperCase(), plan: 'team', createdAt: 0 });
    store.grant(id, { reference: 'start', amount: 100_000_000, at: 0 });
  }
  await run('ada', 'cpu', '2026-02-28T23:59:59.999Z', 1);
  await run('ada', 'cpu', '2026-03-01T00:00:00.000Z', 2);
  await run('ada', 'cpu', '2026-03-15T12:00:00.000Z', 0.5);
  await run('ada', 'gpu', '2026-03-31T23:59:59.999Z', 4);
  await run('ada', 'cpu', '2026-04-01T00:00:00.000Z', 8, 'vision');
  await run('bob', 'cpu', '2026-03-10T00:00:00.000Z', 0);
  await run('bob', 'gpu', '2026-04-02T00:00:00.000Z', 2, 'vision');
  await run('bob', 'gpu', '2026-04-03T00:00:00.000Z', 1);
  store.dispose();

  using admin = await openAdmin(data, { mayCreate: false });
  const report = (from: string, to: string, account?: string) =>
    admin.call('usage.report', { from, to, ...(account !== undefined && { account_id: account }) });
  const cpu = { account_id: 'ada', name: 'ADA', machine_class: 'cpu', jobs: 2, machine_minutes: 2.5, credits: 0.25 };
  const gpu = { account_id: 'ada', name: 'ADA', machine_class: 'gpu', jobs: 1, machine_minutes: 4, credits: 0.4 };
  const bob = { account_id: 'bob', name: 'BOB', machine_class: 'cpu', jobs: 1, machine_minutes: 0, credits: 0 };
  assert.deepEqual((await report('2026-03-01', '2026-03-31')).rows, [cpu, gpu, bob]);
  assert.deepEqual((await report('2026-03-01', '2026-03-31', 'bob')).rows, [bob]);
  assert.deepEqual((await report('2026-02-28', '2026-02-28')).rows, [
    { ...cpu, jobs: 1, machine_minutes: 1, credits: 0.1 },
  ]);
  assert.deepEqual((await report('2025-01-01', '2025-12-31')).rows, []);
  const april = async (by: readonly UsageGroup[]) =>
    (await admin.call('usage.report', { from: '2026-04-01', to: '2026-04-30', by: [...by] })).rows;
  assert.deepEqual(await april(['project']), [
    { project: null, jobs: 1, machine_minutes: 1, credits: 0.1 },
    { project: 'vision', jobs: 2, machine_minutes: 10, credits: 1 },
  ]);
  assert.deepEqual(await april(['project', 'account']), [
    { account_id: 'bob', name: 'BOB', project: null, jobs: 1, machine_minutes: 1, credits: 0.1 },
    { account_id: 'ada', name: 'ADA', project: 'vision', jobs: 1, machine_minutes: 8, credits: 0.8 },
    { account_id: 'bob', name: 'BOB', project: 'vision', jobs: 1, machine_minutes: 2, credits: 0.2 },
  ]);
  assert.deepEqual(await april(['class']), [
    { machine_class: 'cpu', jobs: 1, machine_minutes: 8, credits: 0.8 },
    { machine_class: 'gpu', jobs: 2, machine_minutes: 3, credits: 0.3 },
  ]);
  const { entries } = await admin.call('credits.list', { account_id: 'ada', limit: 2 });
  assert.deepEqual(
    entries.map(({ at, kind, credits, reference }) => [at, kind, credits, reference]),
    [
      ['2026-04-01T00:00:00.000Z', 'job', -0.8, 'job5'],
      ['2026-03-31T23:59:59.999Z', 'job', -0.4, 'job4'],
    ],
  );
  await assert.rejects(report('2026-03-02', '2026-03-01'), { code: 'bad-input', message: /end before it begins/ });
  await assert.rejects(report('2026-03-01', '2026-03-02', 'eve'), { code: 'missing' });
});
