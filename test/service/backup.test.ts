import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { CreditLedger } from '../../src/service/store/accounts/creditLedger.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { readArchive } from './support/archive.ts';
import { ServiceClient } from './support/service.ts';

const KEY = 'the-key-of-the-account-local';

interface BackupAnswer {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly jobs: number;
  readonly unfinished_jobs: number;
  readonly results: number;
}

/** Runs `farwharf admin` and gives its answer. */
async function admin<T>(scratch: Scratch, args: readonly string[]): Promise<T> {
  const { exit, stdout, stderr } = await scratch.run(['admin', ...args, '--json']);
  assert.equal(exit, 0, stderr);
  return jsonLines(stdout)[0] as T;
}

async function resultsOf(client: ServiceClient, id: string): Promise<Record<string, string>> {
  const response = await client.request(`/v1/jobs/${id}/artifacts`);
  assert.equal(response.status, 200, id);
  return readArchive(new Uint8Array(await response.arrayBuffer()));
}

test('a backup under load, restored: everything is there, what ran is lost, and the ledger balances', async () => {
  await using scratch = await Scratch.create();
  const env = { FARWHARF_API_KEY: KEY };
  const service = await scratch.serve(await scratch.unisolated(), env);
  const data = join(scratch.root, 'service-0');
  const client = new ServiceClient(service, data);
  await admin(scratch, ['account', 'add', 'lab', '--credits', '50', '--data', data]);
  const { key } = await admin<{ key: string }>(scratch, ['key', 'add', 'lab', '--data', data]);
  const lab = new ServiceClient({ url: service.url, key }, data);
  const ended = new Map<string, ServiceClient>();
  for (const who of [client, lab, client, lab]) {
    const made = `echo of job ${ended.size} > made.txt; echo printed ${ended.size}`;
    const id = await who.submit({ 'a.sh': made }, { script: 'a.sh' });
    await who.untilEnd(id);
    ended.set(id, who);
  }
  const running = await lab.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await lab.untilRunning(running);

  const over = new AbortController();
  const load = (async () => {
    for (let job = 0; !over.signal.aborted; job += 1)
      await client.submit({ 'a.sh': `echo load ${job} > out.txt` }, { script: 'a.sh' });
  })();
  const file = join(scratch.root, 'backup.tar.gz');
  const written = await admin<BackupAnswer>(scratch, ['backup', file, '--data', data]);
  over.abort();
  await load;
  assert.ok(written.jobs >= 5 && written.unfinished_jobs >= 1 && written.results >= 4, JSON.stringify(written));
  assert.deepEqual([statSync(file).size, statSync(file).mode & 0o777], [written.bytes, 0o600]);
  assert.deepEqual(
    readdirSync(join(data, 'jobs')).filter((name) => name.startsWith('backup-')),
    [],
  );
  const events = new Map(await Promise.all([...ended].map(async ([id, who]) => [id, await who.events(id)] as const)));
  await lab.request(`/v1/jobs/${running}`, { method: 'DELETE' });
  await service.stop();

  const restoredData = join(scratch.root, 'service-1');
  const restored = await admin<{ jobs: number; lost_jobs: number }>(scratch, ['restore', file, '--data', restoredData]);
  assert.deepEqual([restored.jobs, restored.lost_jobs], [written.jobs, written.unfinished_jobs]);
  assert.deepEqual(readdirSync(restoredData).sort(), ['jobs', 'service.db']);
  assert.equal(statSync(restoredData).mode & 0o777, 0o700);
  // The folder of the second service of this test.
  const again = await scratch.serve(await scratch.unisolated(), env);
  const local2 = new ServiceClient(again, restoredData);
  const lab2 = new ServiceClient({ url: again.url, key }, restoredData);
  for (const [index, [id, who]] of [...ended].entries()) {
    const now: ServiceClient = who === lab ? lab2 : local2;
    assert.deepEqual(await now.events(id), events.get(id));
    assert.deepEqual(await resultsOf(now, id), { 'made.txt': `of job ${index}\n` });
  }
  const disk = await admin<{ accounts: { account_id: string; jobs: number; results_bytes: number }[] }>(scratch, [
    'disk',
    '--data',
    restoredData,
  ]);
  const labDisk = disk.accounts.find(({ account_id: account }) => account === 'lab');
  assert.equal(labDisk?.jobs, 2);
  assert.ok((labDisk?.results_bytes ?? 0) > 100);
  const lost = await lab2.job(running);
  assert.deepEqual([lost.state, lost.credits_charged], ['lost', 0]);
  assert.match(lost.reason ?? '', /restored from a backup of 20\d\d-.*had not ended/);
  const charged = await Promise.all([...ended].map(async ([id, who]) => (who === lab ? lab2.job(id) : undefined)));
  const spent = charged.reduce((sum, job) => sum + (job?.credits_charged ?? 0), 0);
  assert.ok(Math.abs((await lab2.credits()) - (50 - spent)) < 1e-6);
  const id = await lab2.submit({ 'a.sh': 'echo continues' }, { script: 'a.sh' });
  assert.equal((await lab2.untilEnd(id)).state, 'succeeded');
  await again.stop();

  const database = new DatabaseSync(join(restoredData, 'service.db'));
  try {
    new CreditLedger(database).check();
    assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  } finally {
    database.close();
  }
});

test('a backup works without a service, is not written over a file, and a damaged one is restored to nothing', async () => {
  await using scratch = await Scratch.create();
  const data = join(scratch.root, 'data');
  await admin(scratch, ['account', 'add', 'lab', '--credits', '5', '--data', data]);
  const file = join(scratch.root, 'backup.tar.gz');
  await admin(scratch, ['backup', file, '--data', data]);
  const twice = await scratch.run(['admin', 'backup', file, '--data', data]);
  assert.equal(twice.exit, 1);
  assert.match(twice.stderr, /backup\.tar\.gz already exists/);

  const target = join(scratch.root, 'target');
  const whole = readFileSync(file);
  const damaged = Buffer.from(whole);
  damaged[Math.floor(whole.length / 2)] = (damaged[Math.floor(whole.length / 2)] ?? 0) ^ 1;
  const cases: readonly [string, Buffer][] = [
    ['cut', whole.subarray(0, whole.length - 100)],
    ['damaged', damaged],
    ['other', Buffer.from('not a backup')],
  ];
  for (const [name, bytes] of cases) {
    const bad = join(scratch.root, `${name}.tar.gz`);
    writeFileSync(bad, bytes);
    const refused = await scratch.run(['admin', 'restore', bad, '--data', target]);
    assert.equal(refused.exit, 1, name);
    assert.match(refused.stderr, /Nothing was restored, because .* is not a complete backup/, name);
    assert.ok(!existsSync(target));
  }
  mkdirSync(target);
  writeFileSync(join(target, 'something'), '');
  const used = await scratch.run(['admin', 'restore', file, '--data', target]);
  assert.match(used.stderr, /Nothing was restored, because .* is not empty/);
  assert.deepEqual(readdirSync(target), ['something']);
  const inUse = await scratch.run(['admin', 'restore', file, '--data', data]);
  assert.match(inUse.stderr, /is not empty/);
  assert.deepEqual(
    readdirSync(scratch.root).filter((name) => name.startsWith('.')),
    [],
    'nothing is left beside the target',
  );
  const good = await scratch.run(['admin', 'restore', file, '--data', join(scratch.root, 'new')]);
  assert.equal(good.exit, 0, good.stderr);
  assert.match(good.stderr, /The ledger balances\. Start the service:/);
  const shown = await admin<{ credits_available: number }>(scratch, [
    'account',
    'show',
    'lab',
    '--data',
    join(scratch.root, 'new'),
  ]);
  assert.equal(shown.credits_available, 5);
});
