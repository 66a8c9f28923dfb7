import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { planSubmit } from '../../../../src/jobs/plan/plan.ts';
import { cancelSweep } from '../../../../src/jobs/sweeps/cancelSweep.ts';
import type { JobPlans } from '../../../../src/jobs/plan/jobPlans.ts';
import { createSweep } from '../../../../src/jobs/sweeps/createSweep.ts';
import { sendSweep, type SweepDeps, type SweepPhase } from '../../../../src/jobs/sweeps/sendSweep.ts';
import type { Sweep } from '../../../../src/jobs/sweeps/sweep.ts';
import { SweepStore } from '../../../../src/jobs/sweeps/sweepStore.ts';
import { tempHome } from '../fixtures.ts';
import { type Answers, sendJson, TestService } from '../testService.ts';
import { RemoteClient } from '../../../../src/remote/client.ts';

// One job can cost one credit.
const ACCOUNT = { account_id: 'ada', credits: 100, rate_card: [{ machine_class: 'cpu', credits_per_minute: 1 }] };
const VALUES = [1, 2, 3, 4];

interface Setting {
  readonly deps: SweepDeps & { readonly service: RemoteClient };
  readonly jobs: JobLedger;
  readonly http: TestService;
  readonly sweep: Sweep;
}

interface Limits {
  readonly concurrency?: number;
  readonly maxCost?: number;
}

async function planSweep(t: TestContext, host: string, limits: Limits = {}) {
  const folder = tempHome(t);
  writeFileSync(join(folder, 'train.py'), 'print("hello")\n');
  const selections = new Selections();
  const selection = await selections.select(folder, { isTrusted: false });
  const target = { host, service: 'the service', account: ACCOUNT };
  const files = { include: [], exclude: [], machineClass: 'cpu', maxRuntime: 60 };
  const plan: JobPlans = {
    name: 'train',
    limits: { concurrency: limits.concurrency, maxCost: limits.maxCost },
    jobs: VALUES.map((lr) => ({
      parameters: { lr },
      plan: planSubmit(target, { ...files, script: `train.py ${lr}` }, selection),
    })),
  };
  return { selections, plan };
}

/** A sweep of four jobs that is stored, but not sent. */
async function setUp(t: TestContext, answers: Answers, limits: Limits = {}): Promise<Setting> {
  const home = tempHome(t);
  const http = await TestService.start(t, answers);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const { selections, plan } = await planSweep(t, http.url, limits);
  const sweep = await createSweep({ selections, home }, plan, { isTrusted: false });
  const deps = { service: new RemoteClient(http.url, 'key-of-the-test'), ledger: directLedger(jobs), home };
  return { deps, jobs, http, sweep };
}

const OPTIONS = { signal: new AbortController().signal, pollMs: 1, backoff: { firstMs: 1, factor: 1, retries: 3 } };

/** A service that keeps jobs by their key, as Farwharf's own does. Each ends when it has been asked about. */
class KeepingService {
  readonly jobs = new Map<string, string>();
  readonly ended = new Set<string>();
  mostUnfinished = 0;
  creditHold = 1;
  /** Called before a submit is answered. */
  onSubmit: (count: number) => 'answer' | 'lose' = () => 'answer';

  readonly answers: Answers = {
    submit: async (request, response) => {
      await request.toArray();
      const key = String(request.headers['idempotency-key']).replaceAll('"', '');
      if (!this.jobs.has(key)) this.jobs.set(key, `job-${this.jobs.size + 1}`);
      this.mostUnfinished = Math.max(this.mostUnfinished, this.jobs.size - this.ended.size);
      if (this.onSubmit(this.jobs.size) === 'lose') request.socket.destroy();
      else sendJson(response, this.#created(key));
    },
    job: (request, response) => {
      const name = request.url?.split('/').at(-1) ?? '';
      if (request.url?.includes('/submissions/') === true) {
        const status = this.jobs.has(name)
          ? { state: 'accepted', ...this.#created(name) }
          : { state: 'incomplete', received_bytes: 0 };
        sendJson(response, { account_id: 'ada', ...status });
        return;
      }
      this.ended.add(name);
      sendJson(response, { job_id: name, state: 'succeeded', exit_code: 0, credits_charged: 0.5 });
    },
  };

  #created(key: string) {
    return { job_id: this.jobs.get(key), credit_hold: this.creditHold, credits_remaining: 10 };
  }
}

test('all jobs of a sweep are sent, never more at once than its limit', async (t) => {
  const service = new KeepingService();
  const { deps, jobs, sweep } = await setUp(t, service.answers, { concurrency: 2 });
  const phases: { readonly type: SweepPhase['type']; readonly at: number }[] = [];
  const onPhase = ({ type }: SweepPhase): void => void phases.push({ type, at: performance.now() });
  const end = await sendSweep(deps, sweep, { ...OPTIONS, onPhase });
  assert.equal(end.type, 'all-sent');
  assert.deepEqual([service.jobs.size, service.mostUnfinished], [4, 2]);
  const wait = phases.findIndex(({ type }) => type === 'wait');
  const waitedMs = (phases[wait + 1]?.at ?? 0) - (phases[wait]?.at ?? 0);
  assert.ok(waitedMs >= 190, `a service is asked about two jobs every 200 ms at most, not after ${waitedMs} ms`);
  const records = jobs.list({ sweep: sweep.id });
  assert.deepEqual(
    records.map(({ script }) => script).toSorted(),
    VALUES.map((lr) => `train.py ${lr}`),
  );
  assert.deepEqual(records.map(({ sweep: place }) => String(place?.parameters['lr'])).toSorted(), VALUES.map(String));
  assert.ok(records.every(({ resultsFolder }) => /^train\/\d-lr=\d$/.test(resultsFolder ?? '')));
  assert.equal(existsSync(join(deps.home, 'archives', `${sweep.id}.sweep`)), false);
});

test('a sweep stops before a job could exceed its cost limit, counting what ended jobs cost', async (t) => {
  const service = new KeepingService();
  // The first job may cost 1 and costs 0.5, so that two fit; a third could make it 2.
  const { deps, sweep } = await setUp(t, service.answers, { maxCost: 1.5 });
  const end = await sendSweep(deps, sweep, OPTIONS);
  assert.deepEqual([end.type, end.records.length, service.mostUnfinished], ['cost-limit', 2, 1]);
  const more = await sendSweep(deps, { ...sweep, maxCost: 10 }, OPTIONS);
  assert.deepEqual([more.type, service.jobs.size], ['all-sent', 4]);
});

test('a sweep keeps its cost limit when the service holds more than its prices said', async (t) => {
  const service = new KeepingService();
  service.creditHold = 2;
  // By the prices, all four would fit.
  const { deps, sweep } = await setUp(t, service.answers, { maxCost: 4, concurrency: 4 });
  const end = await sendSweep(deps, sweep, OPTIONS);
  assert.deepEqual([end.type, service.mostUnfinished], ['all-sent', 2]);
  const dear = new KeepingService();
  dear.creditHold = 5;
  const other = await setUp(t, dear.answers, { maxCost: 4 });
  const stopped = await sendSweep(other.deps, other.sweep, OPTIONS);
  assert.deepEqual([stopped.type, dear.jobs.size], ['cost-limit', 1]);
});

test('a job whose response was lost is not sent again', async (t) => {
  const service = new KeepingService();
  const { deps, sweep, http } = await setUp(t, service.answers);
  service.onSubmit = (count) => (count === 2 ? 'lose' : 'answer');
  const end = await sendSweep(deps, sweep, OPTIONS);
  assert.deepEqual([end.type, service.jobs.size, http.attempts.submit], ['all-sent', 4, 4]);
});

test('a job whose outcome a service without keys does not say stays unknown, and the others are sent', async (t) => {
  let count = 0;
  const { deps, sweep } = await setUp(t, {
    submit: async (request, response) => {
      await request.toArray();
      count += 1;
      if (count === 2) request.socket.destroy();
      else sendJson(response, { job_id: `job-${count}` });
    },
    job: (request, response) =>
      request.url?.includes('/submissions/') === true
        ? sendJson(response, { detail: 'no such page' }, 404)
        : sendJson(response, { state: 'running' }),
  });
  const end = await sendSweep(deps, sweep, OPTIONS);
  assert.deepEqual([end.type, count], ['all-sent', 4]);
  assert.equal(end.records.filter(({ state }) => state === 'unknown').length, 1);
  // Each can be sent again.
  assert.ok(end.records.every(({ archive }) => existsSync(archive ?? '')));
});

test('a sweep that was interrupted continues with the same keys', async (t) => {
  const service = new KeepingService();
  const { deps, sweep } = await setUp(t, service.answers);
  const stop = new AbortController();
  service.onSubmit = (count) => {
    if (count === 2) stop.abort();
    return 'answer';
  };
  await assert.rejects(sendSweep(deps, sweep, { ...OPTIONS, signal: stop.signal }));
  service.onSubmit = () => 'answer';
  const stored = await new SweepStore(deps.home).find(sweep.id.slice(0, 8));
  const end = await sendSweep(deps, stored, OPTIONS);
  assert.equal(end.type, 'all-sent');
  assert.deepEqual([...service.jobs.keys()].toSorted(), sweep.drafts.map(({ id }) => id).toSorted());
});

test('a refusal ends the sending at once and keeps what was sent', async (t) => {
  const { deps, jobs, sweep, http } = await setUp(t, {
    submit: async (request, response, attempt) => {
      await request.toArray();
      if (attempt === 1) sendJson(response, { job_id: 'job-1' });
      else sendJson(response, { detail: 'no credits' }, 402);
    },
  });
  await assert.rejects(sendSweep(deps, sweep, OPTIONS), { status: 402 });
  const sent = jobs.list({ sweep: sweep.id });
  assert.deepEqual([http.attempts.submit, sent.length], [2, 1]);
  // Of the refused job nothing is left; the others can still be sent.
  const left = [
    `${sent[0]?.id}.tar.gz`,
    `${sent[0]?.id}.manifest.json`,
    `${sent[0]?.id}.segments.json`,
    `${sweep.id}.sweep`,
    `${sweep.id}.manifest.json`,
    `${sweep.id}.segments.json`,
  ];
  const names = readdirSync(join(deps.home, 'archives')).filter((name) => !name.endsWith('.latest'));
  assert.deepEqual(names.toSorted(), left.toSorted());
});

test('a cancelled sweep stops its jobs and sends no more', async (t) => {
  const cancelled: string[] = [];
  const { deps, sweep } = await setUp(
    t,
    {
      submit: async (request, response, attempt) => {
        await request.toArray();
        sendJson(response, { job_id: `job-${attempt}` });
      },
      job: (request, response) => {
        const name = request.url?.split('/').at(-1) ?? '';
        if (request.method === 'DELETE') cancelled.push(name);
        sendJson(response, { job_id: name, state: cancelled.includes(name) ? 'cancelled' : 'running' });
      },
    },
    { concurrency: 2 },
  );
  const waiting = Promise.withResolvers<void>();
  const onPhase = ({ type }: SweepPhase): void => {
    if (type === 'wait') waiting.resolve();
  };
  const sending = sendSweep(deps, sweep, { ...OPTIONS, onPhase });
  await waiting.promise;
  assert.equal(await cancelSweep(deps, sweep, OPTIONS.signal), 2);
  assert.equal((await sending).type, 'cancelled');
  assert.deepEqual(cancelled.toSorted(), ['job-1', 'job-2']);
});

test('without the packed files, the other jobs of a sweep are not sent', async (t) => {
  const service = new KeepingService();
  const { deps, sweep } = await setUp(t, service.answers);
  rmSync(join(deps.home, 'archives', `${sweep.id}.sweep`));
  await assert.rejects(sendSweep(deps, sweep, OPTIONS), { code: 'missing', message: /Submit it again/ });
  assert.equal(service.jobs.size, 0);
});

test('a busy service is asked again, as often as there are delays', async (t) => {
  const service = new KeepingService();
  let refusals = 3;
  const { deps, sweep } = await setUp(t, {
    ...service.answers,
    submit: async (request, response, attempt) => {
      if (refusals-- <= 0) return service.answers.submit?.(request, response, attempt);
      await request.toArray();
      sendJson(response, { detail: 'too many requests' }, 429);
    },
  });
  const phases: string[] = [];
  const options = { ...OPTIONS, onPhase: ({ type }: SweepPhase) => phases.push(type) };
  assert.equal((await sendSweep(deps, sweep, options)).type, 'all-sent');
  assert.equal(phases.filter((type) => type === 'retry').length, 3);
  const {
    deps: others,
    sweep: refused,
    http,
  } = await setUp(t, {
    submit: async (request, response) => {
      await request.toArray();
      sendJson(response, { detail: 'too many requests' }, 429);
    },
  });
  await assert.rejects(sendSweep(others, refused, OPTIONS), { status: 429 });
  assert.equal(http.attempts.submit, 4);
});

for (const [what, change] of [
  ['two equal jobs', (plan: JobPlans) => ({ ...plan, jobs: [...plan.jobs, ...plan.jobs.slice(0, 1)] })],
  ['no job', (plan: JobPlans) => ({ ...plan, jobs: [] })],
  ['a job that costs more than all may', (plan: JobPlans) => ({ ...plan, limits: { ...plan.limits, maxCost: 0.5 } })],
] as const) {
  test(`a sweep with ${what} is refused and leaves nothing`, async (t) => {
    const home = tempHome(t);
    const { selections, plan } = await planSweep(t, 'https://jobs.example.org');
    await assert.rejects(createSweep({ selections, home }, change(plan), { isTrusted: false }), { code: 'bad-input' });
    assert.deepEqual(await filesIn(home), []);
  });
}

test('a sweep is packed from the archive that was last sent from its folder, unless all files are to be read again', async (t) => {
  const home = tempHome(t);
  const { selections, plan } = await planSweep(t, 'https://jobs.example.org');
  const folder = plan.jobs[0]?.plan.selection.root ?? '';
  const archives = new ArchiveStore(home);
  await archives.prepare();
  const last = randomUUID();
  await archives.setLatest(folder, last);
  const used: (string | undefined)[] = [];
  const watched: typeof selections.pack = (id, dest, options) => {
    used.push(options.earlier?.archive);
    return selections.pack(id, dest, options);
  };
  const deps = { selections: { pack: watched, checkScript: selections.checkScript.bind(selections) }, home };
  for (const rehash of [undefined, false, true]) await createSweep(deps, plan, { isTrusted: false, rehash });
  const archive = archives.archivePath(last);
  assert.deepEqual(used, [archive, archive, undefined]);
});

test('the folder for the results of a job names its parameters, up to 80 characters', async (t) => {
  const home = tempHome(t);
  const { selections, plan } = await planSweep(t, 'https://jobs.example.org');
  const text = `${'x'.repeat(72)}. y`;
  const jobs = plan.jobs.map((job) => ({ ...job, parameters: { text, odd: 'a/../b' } }));
  const { drafts } = await createSweep({ selections, home }, { ...plan, jobs }, { isTrusted: false });
  assert.deepEqual(
    drafts.map(({ resultsFolder }) => resultsFolder),
    VALUES.map((_, index) => `train/${index + 1}-text=${'x'.repeat(72)}`),
  );
});

test('a sweep that is cancelled while its files are packed, or once it is stored, leaves nothing', async (t) => {
  const home = tempHome(t);
  const { selections, plan } = await planSweep(t, 'https://jobs.example.org');
  const stop = new AbortController();
  const onPhase = ({ type }: { readonly type: string }): void => {
    if (type === 'pack') stop.abort();
  };
  const packing = createSweep({ selections, home }, plan, { isTrusted: false, signal: stop.signal, onPhase });
  await assert.rejects(packing, { name: 'AbortError' });
  assert.deepEqual(await filesIn(home), []);
  const { signal } = new AbortController();
  t.mock.method(signal, 'throwIfAborted', () => {
    if (existsSync(join(home, 'sweeps'))) throw new DOMException('cancelled', 'AbortError');
  });
  await assert.rejects(createSweep({ selections, home }, plan, { isTrusted: false, signal }), { name: 'AbortError' });
  assert.deepEqual(await filesIn(home), []);
});

async function filesIn(home: string): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
