import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '../../../src/service/admin/adminClient.ts';
import { pick, type Random } from '../../random.ts';
import { until } from '../../service/commandLine.ts';
import type { ServiceClient } from '../../service/support/service.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import { KilledService } from '../service.ts';

const SENDERS = 2;
const MADE_OF = 1000;

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

/** The service with accounts that submit jobs and get credits: each job comes to its true end once, and the credits balance. */
export const service: Place = {
  name: 'service',
  begin: async (folder, random) => new ServiceLife(folder, random),
};

interface Account {
  readonly id: string;
  readonly key: string;
  /** References of grants that were asked for, and whether one was answered. */
  readonly grants: Map<string, boolean>;
  readonly jobs: Map<string, Kind>;
}

class ServiceLife implements Life {
  readonly #service: KilledService;
  readonly #random: Random;
  readonly #accounts: Account[] = [];
  #asked = 0;

  constructor(folder: string, random: Random) {
    this.#service = new KilledService(join(folder, 'home'), 6);
    this.#random = random;
  }

  async kill(): Promise<Kill> {
    const client = await this.#service.start();
    if (this.#accounts.length < 3)
      this.#accounts.push(await addAccount(client.data, `account-${this.#accounts.length}`));
    await this.#checkAcknowledged(client);
    const before = this.#acknowledged;
    const death = new AbortController();
    const goal = Math.floor(this.#random() * 4);
    let unanswered = 0;
    const lose = (): void => void (unanswered += 1);
    const workers = [
      ...Array.from({ length: SENDERS }, () => this.#sendUntilDead(client).then(lose)),
      this.#grantUntilDead(client.data, death.signal).then(lose),
    ];
    const isOver = Promise.all(workers).then(() => true);
    // After so many answers, however long the machine takes for them, and at any moment then.
    while (this.#acknowledged < before + goal && !(await Promise.race([isOver, sleep(5, false)])));
    await sleep(this.#random() * 100);
    await this.#service.end('SIGKILL', async () => {
      death.abort();
      await isOver;
    });
    return { isMidWrite: unanswered > 0 };
  }

  async finish(): Promise<void> {
    const client = await this.#service.start();
    await this.#checkAcknowledged(client);
    const all = new Set<string>();
    for (const account of this.#accounts) {
      const own = client.withKey(account.key);
      const { jobs: known } = await own.json<{ jobs: { job_id: string }[] }>('/v1/jobs?limit=500');
      let charged = 0;
      for (const { job_id: id } of known) {
        const job = await own.untilEnd(id);
        charged += job.credits_charged ?? Number.NaN;
        all.add(id);
        const kind = account.jobs.get(id);
        if (kind === undefined) continue;
        assert.deepEqual(
          [job.state, job.exit_code, await own.output(id)],
          [kind.state, kind.exitCode, kind.output],
          id,
        );
      }
      for (const id of account.jobs.keys()) assert.ok(all.has(id), `${id} is lost`);
      // A grant without an answer may have happened. Asked for again, it has.
      for (const reference of account.grants.keys()) await grant(client.data, account.id, reference);
      const expected = MADE_OF + account.grants.size - charged;
      assert.ok(Math.abs((await own.credits()) - expected) < 1e-6, 'credits are what was given and not charged');
    }
    assert.deepEqual(new Set(readdirSync(join(client.data, 'jobs'))), all);
    await until(() => this.#service.orphans().length === 0);
    await this.#service.end('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }

  get #acknowledged(): number {
    return this.#accounts.reduce(
      (sum, { jobs, grants }) => sum + jobs.size + [...grants.values()].filter(Boolean).length,
      0,
    );
  }

  async #checkAcknowledged(client: ServiceClient): Promise<void> {
    for (const { id, key, jobs, grants } of this.#accounts) {
      const { jobs: listed } = await client.withKey(key).json<{ jobs: { job_id: string }[] }>('/v1/jobs?limit=500');
      const known = new Set(listed.map(({ job_id: job }) => job));
      for (const job of jobs.keys()) assert.ok(known.has(job), `${job} is lost`);
      using admin = await openAdmin(client.data, { mayCreate: false });
      const { entries } = await admin.call('credits.list', { account_id: id, limit: 10_000 });
      const given = entries.filter(({ kind }) => kind === 'grant').map(({ reference }) => reference);
      assert.equal(new Set(given).size, given.length, 'a grant happens once');
      for (const [reference, isAnswered] of grants)
        assert.ok(!isAnswered || given.includes(reference), `${reference} is lost`);
    }
  }

  /** Submits jobs, with short pauses, until the service dies; a submission without an answer may or may not have become a job. */
  async #sendUntilDead(client: ServiceClient): Promise<void> {
    for (;;) {
      const [kind, account] = [pick(KINDS, this.#random), pick(this.#accounts, this.#random)];
      assert.ok(kind && account);
      try {
        const meta = { script: 'a.sh', max_runtime: kind.maxRuntime };
        const response = await client.withKey(account.key).send({ 'a.sh': kind.script }, meta);
        const { job_id: id, detail } = (await response.json()) as { job_id: string; detail?: string };
        assert.equal(response.status, 201, detail);
        account.jobs.set(id, kind);
        await sleep(this.#random() * 100);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        return;
      }
    }
  }

  /** Who administrates a service that is gone works on its store, and would not stop. */
  async #grantUntilDead(data: string, death: AbortSignal): Promise<void> {
    while (!death.aborted) {
      const account = pick(this.#accounts, this.#random);
      assert.ok(account);
      const reference = `grant ${(this.#asked += 1)}`;
      account.grants.set(reference, false);
      try {
        await grant(data, account.id, reference);
        account.grants.set(reference, true);
        await sleep(this.#random() * 100);
      } catch {
        return;
      }
    }
  }
}

async function addAccount(data: string, id: string): Promise<Account> {
  using admin = await openAdmin(data, { mayCreate: false });
  await admin.call('accounts.add', { account_id: id, credits: MADE_OF });
  await admin.call('accounts.limit', { account_id: id, limits: { requests_per_minute: 1_000_000 } });
  const { key } = await admin.call('keys.add', { account_id: id });
  return { id, key, grants: new Map(), jobs: new Map() };
}

async function grant(data: string, account: string, reference: string): Promise<void> {
  using admin = await openAdmin(data, { mayCreate: false });
  await admin.call('credits.grant', { account_id: account, amount: 1, reference });
}
