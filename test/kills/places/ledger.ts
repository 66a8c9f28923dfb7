import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { directLedger } from '../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../src/jobs/ledger/ledger.ts';
import { settleEarlier } from '../../../src/jobs/send/settle.ts';
import { RemoteClient } from '../../../src/remote/client.ts';
import type { Random } from '../../random.ts';
import { built } from '../../service/support/built.ts';
import type { ServiceClient } from '../../service/support/service.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import { KilledProcess } from '../process.ts';
import { KEY, KilledService } from '../service.ts';

/** The client's list of jobs, during `farwharf submit`: each job that the service has is in it once, and what was not sent is known not to be. */
export const ledger: Place = {
  name: 'ledger',
  async begin(folder, random) {
    const service = new KilledService(join(folder, 'service-home'), 1);
    const client = await service.start();
    const life = new LedgerLife(folder, random, service, client);
    await life.measure();
    return life;
  },
};

class LedgerLife implements Life {
  readonly #home: string;
  readonly #project: string;
  readonly #random: Random;
  readonly #service: KilledService;
  readonly #client: ServiceClient;
  /** Ids of jobs that the command printed. */
  readonly #acknowledged = new Set<string>();
  /** How long a submit takes after it said what it will send. */
  #tookMs = 0;

  constructor(folder: string, random: Random, service: KilledService, client: ServiceClient) {
    [this.#home, this.#project] = [join(folder, 'home'), join(folder, 'project')];
    this.#random = random;
    this.#service = service;
    this.#client = client;
    mkdirSync(this.#project);
    // The first keeps the others waiting.
    writeFileSync(join(this.#project, 'a.sh'), 'sleep 6000');
    writeFileSync(join(this.#project, 'noise'), randomBytes(1_000_000));
  }

  async measure(): Promise<void> {
    const submit = this.#submit();
    await untilSending(submit);
    const started = performance.now();
    await submit.closed();
    this.#tookMs = performance.now() - started;
    assert.equal(submit.exitCode, 0, submit.errors);
    this.#learn(submit);
  }

  async kill(): Promise<Kill> {
    const submit = this.#submit();
    await untilSending(submit);
    await sleep(this.#random() * this.#tookMs * 1.1);
    await submit.kill();
    assert.ok(submit.isKilled || submit.exitCode === 0, submit.errors);
    const isAcknowledged = this.#learn(submit);
    await this.#check();
    return { isMidWrite: submit.isKilled && !isAcknowledged };
  }

  async finish(): Promise<void> {
    const list = new KilledProcess(process.execPath, [built('cli.mjs'), 'jobs', '--json', '--limit', '500'], this.#env);
    await list.closed();
    assert.equal(list.exitCode, 0, list.errors);
    const text = list.lines.join('\n');
    for (const id of this.#acknowledged) assert.ok(text.includes(id), `${id} is not listed`);
    const archives = join(this.#home, 'archives');
    const parts = existsSync(archives) ? readdirSync(archives).filter((name) => /\.part(ial)?$/.test(name)) : [];
    // What the last kill left is removed by the next submit.
    assert.ok(parts.length <= 1, `${parts.length} packed archives were never sent and stay`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }

  get #env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      FARWHARF_HOME: this.#home,
      FARWHARF_REMOTE_HOST: this.#client.url,
      FARWHARF_API_KEY: KEY,
    };
  }

  #submit(): KilledProcess {
    const argv = [
      built('cli.mjs'),
      'submit',
      this.#project,
      '--script',
      'a.sh',
      '--max-runtime',
      '1',
      '--again',
      '--json',
    ];
    return new KilledProcess(process.execPath, argv, this.#env);
  }

  #learn({ lines }: KilledProcess): boolean {
    for (const line of lines) this.#acknowledged.add((JSON.parse(line) as { job_id: string }).job_id);
    return lines.length > 0;
  }

  async #check(): Promise<void> {
    const jobs = new JobLedger(this.#home);
    await using client = new RemoteClient(this.#client.url, KEY);
    try {
      assert.equal(jobs.problem, undefined);
      jobs.settleAbandoned();
      for (const record of jobs.list({ state: 'unknown', limit: 1000, withRemoved: true })) {
        const { state } = await settleEarlier({ service: client, ledger: directLedger(jobs) }, record);
        assert.ok(['queued', 'failed'].includes(state), `${record.id} is ${state}`);
      }
      const listed = jobs.list({ limit: 1000, withRemoved: true }).flatMap(({ jobId }) => jobId ?? []);
      const { jobs: known } = await this.#client.json<{ jobs: { job_id: string }[] }>('/v1/jobs?limit=500');
      assert.deepEqual(
        listed.toSorted(),
        known.map(({ job_id: id }) => id).toSorted(),
        'the service has what the ledger has',
      );
      for (const id of this.#acknowledged) assert.ok(listed.includes(id), `${id} is not in the ledger`);
    } finally {
      jobs.dispose();
    }
    const database = new DatabaseSync(join(this.#home, 'jobs.sqlite'));
    assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    database.close();
  }
}

async function untilSending(submit: KilledProcess): Promise<void> {
  while (!submit.errors.includes('will be sent to') && !submit.hasEnded) await sleep(2);
}
