import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSpool } from '../../../src/jobs/log/spool.ts';
import { JobLedger } from '../../../src/jobs/ledger/ledger.ts';
import type { Random } from '../../random.ts';
import { makeRecord } from '../../unit/jobs/fixtures.ts';
import { built } from '../../service/support/built.ts';
import { openGate } from '../../service/support/gate.ts';
import type { ServiceClient } from '../../service/support/service.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import { KilledProcess } from '../process.ts';
import { KEY, KilledService } from '../service.ts';

const SCRIPT =
  'line=0; until [ -e .open-gate ]; do line=$((line + 1)); echo line $line; sleep 0.01; done; rm .open-gate';

/** The log of a job, during `farwharf watch`: what was printed is kept, and at the end there is each event once, in order. */
export const spool: Place = {
  name: 'spool',
  async begin(folder, random) {
    const service = new KilledService(join(folder, 'service-home'), 1);
    const client = await service.start();
    const jobId = await client.submit({ 'a.sh': SCRIPT }, { script: 'a.sh', max_runtime: 36_000 });
    return new SpoolLife(folder, random, { service, client, jobId });
  },
};

interface Watched {
  readonly service: KilledService;
  readonly client: ServiceClient;
  readonly jobId: string;
}

class SpoolLife implements Life {
  readonly #home: string;
  readonly #random: Random;
  readonly #watched: Watched;
  readonly #id: string;
  #seen = 0;

  constructor(folder: string, random: Random, watched: Watched) {
    this.#home = join(folder, 'home');
    this.#random = random;
    this.#watched = watched;
    const record = makeRecord({ host: watched.client.url, jobId: watched.jobId, state: 'running' });
    const ledger = new JobLedger(this.#home);
    ledger.insert(record);
    ledger.dispose();
    this.#id = record.id;
  }

  async kill(): Promise<Kill> {
    const watch = this.#watch();
    // It prints first what is kept already, and then what comes.
    await watch.untilLines(this.#seen + 1 + Math.floor(this.#random() * 20));
    await sleep(this.#random() * 30);
    await watch.kill();
    assert.ok(watch.isKilled, watch.errors);
    const kept = (await this.#output()).split('\n');
    assert.deepEqual(kept.slice(0, watch.lines.length), watch.lines, 'what was printed is kept');
    const inOrder = kept.slice(0, -1);
    assert.deepEqual(
      inOrder,
      inOrder.map((_, index) => `line ${index + 1}`),
    );
    assert.ok(inOrder.length >= this.#seen, 'what was kept stays');
    this.#seen = inOrder.length;
    // The job continues to write all the time.
    return { isMidWrite: true };
  }

  async finish(): Promise<void> {
    const { client, jobId } = this.#watched;
    await openGate(client.data, jobId);
    const watch = this.#watch();
    await watch.closed();
    assert.equal(watch.exitCode, 0, watch.errors);
    const output = await client.output(jobId);
    assert.equal(await this.#output(), output);
    assert.equal(`${watch.lines.join('\n')}\n`, output);
    const events = (await client.events(jobId)).map(({ id }) => String(id));
    const kept = await Array.fromAsync(new EventSpool(this.#home, this.#id).read());
    assert.deepEqual(
      kept.flatMap(({ id, own }) => (own === true || id === undefined ? [] : [id])),
      events,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watched.service[Symbol.asyncDispose]();
  }

  #watch(): KilledProcess {
    const { client, jobId } = this.#watched;
    const env = { ...process.env, FARWHARF_HOME: this.#home, FARWHARF_REMOTE_HOST: client.url, FARWHARF_API_KEY: KEY };
    return new KilledProcess(process.execPath, [built('cli.mjs'), 'watch', jobId], env);
  }

  async #output(): Promise<string> {
    const events = await Array.fromAsync(new EventSpool(this.#home, this.#id).read());
    const logs = events.filter(({ event, own }) => event === 'log' && own !== true);
    return logs.map(({ data }) => (data as { text: string }).text).join('');
  }
}
