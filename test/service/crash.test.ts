import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreditLedger } from '../../src/service/store/credits.ts';
import { jobsAtOnce, type ServiceClient, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const KILLS = Number(process.env['FARWHARF_TEST_KILLS'] ?? 50);
const SEED = Number(process.env['FARWHARF_TEST_SEED'] ?? 20_261_120);
const SENDERS = 2;
const CONCURRENCY = 6;

interface Kind {
  readonly script: string;
  readonly maxRuntime: number;
  readonly state: string;
  readonly exitCode: number | null;
  readonly output: string;
}

// What each job must come to, however often the service dies meanwhile. The output shows that none ran twice.
const KINDS: readonly Kind[] = [
  { script: 'echo one; sleep 0.3; echo two', maxRuntime: 60, state: 'succeeded', exitCode: 0, output: 'one\ntwo\n' },
  { script: 'echo fails; exit 7', maxRuntime: 60, state: 'failed', exitCode: 7, output: 'fails\n' },
  { script: 'echo long; exec sleep 600', maxRuntime: 1, state: 'timed_out', exitCode: null, output: 'long\n' },
  { script: 'echo made > made.txt', maxRuntime: 60, state: 'succeeded', exitCode: 0, output: '' },
];

/** Numbers from 0 to 1, the same for the same seed (mulberry32, Tommy Ettinger). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Submits jobs, with short pauses, until the service dies; a submission without an answer may or may not have become a job. */
async function sendUntilDead(client: ServiceClient, accepted: Map<string, Kind>, random: () => number): Promise<void> {
  for (;;) {
    const kind = KINDS[Math.floor(random() * KINDS.length)] ?? assert.fail();
    try {
      const response = await client.send({ 'a.sh': kind.script }, { script: 'a.sh', max_runtime: kind.maxRuntime });
      const { job_id: id } = (await response.json()) as { job_id: string };
      assert.equal(response.status, 201);
      accepted.set(id, kind);
      await sleep(random() * 100);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
  }
}

test(`${KILLS} times kill -9 under load: every job comes to its true end and the credits balance`, async (t) => {
  t.diagnostic(`FARWHARF_TEST_SEED=${SEED}`);
  const home = await temporaryFolder(t);
  const random = randomFrom(SEED);
  const accepted = new Map<string, Kind>();
  const options = { config: jobsAtOnce(CONCURRENCY) };
  for (let kill = 0; kill < KILLS; kill += 1) {
    const service = await ServiceProcess.start(home, options);
    t.after(() => service.end('SIGKILL'));
    const senders = Array.from({ length: SENDERS }, () => sendUntilDead(service.client, accepted, random));
    // After so many jobs, however long the machine takes for them, and at any moment then.
    const wanted = accepted.size + Math.floor(random() * 4);
    const isOver = Promise.all(senders).then(() => true);
    while (accepted.size < wanted && !(await Promise.race([isOver, sleep(5, false)])));
    await sleep(random() * 100);
    await service.end('SIGKILL');
    await isOver;
  }

  const last = await ServiceProcess.start(home, options);
  t.after(() => last.end('SIGKILL'));
  const { client } = last;
  for (const [id, kind] of accepted) {
    const job = await client.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code, await client.output(id)], [kind.state, kind.exitCode, kind.output], id);
  }
  const known = (await client.json<{ jobs: { job_id: string; credits_charged: number }[] }>('/v1/jobs?limit=500')).jobs;
  for (const { job_id: id } of known) await client.untilEnd(id);
  const all = await Promise.all(known.map(({ job_id: id }) => client.job(id)));
  const charged = all.reduce((sum, job) => sum + (job.credits_charged ?? Number.NaN), 0);
  assert.ok(Math.abs((await client.credits()) - (1000 - charged)) < 1e-6, 'credits are what was not charged');
  t.diagnostic(`${accepted.size} jobs were accepted, ${known.length} are known, ${charged} credits were charged`);
  assert.ok(accepted.size > KILLS / 2, 'the service was under load');
  await last.end('SIGTERM');

  const database = new DatabaseSync(join(client.data, 'service.db'));
  t.after(() => database.close());
  new CreditLedger(database).check();
  const value = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  assert.equal(value('PRAGMA integrity_check'), 'ok');
  assert.equal(value('SELECT sum(amount) FROM credit_entries'), 0);
  assert.equal(value("SELECT balance FROM credit_accounts WHERE name = 'local:held'"), 0);
  assert.deepEqual(new Set(readdirSync(join(client.data, 'jobs'))), new Set(known.map(({ job_id: id }) => id)));
});
