import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../src/core/errors.ts';
import { bootIdentity } from '../../../../src/core/processes/processTree.ts';
import { silentLogger } from '../../../../src/core/log.ts';
import type { Executor, JobPlacement, QueuedJob } from '../../../../src/service/executor/executor.ts';
import { JobFiles } from '../../../../src/service/jobFiles/jobFiles.ts';
import { localMachineClasses } from '../../../../src/service/config/machineClasses.ts';
import { JobSecrets } from '../../../../src/service/jobs/jobSecrets.ts';
import { ContentStore } from '../../../../src/service/contents/contentStore.ts';
import { WaitingContents } from '../../../../src/service/contents/waitingContents.ts';
import { ResultPieces } from '../../../../src/service/contents/resultPieces.ts';
import { Scheduler, type SchedulerOptions } from '../../../../src/service/jobs/scheduler.ts';
import type { StoredJob } from '../../../../src/service/store/jobs/jobTable.ts';
import { Store } from '../../../../src/service/store/store.ts';
import { GUARD_MS } from '../../timeLimits.ts';

const FULL = 'database or disk is full';

/** A store with jobs that wait, named by account and number (`ada0`), and a scheduler that runs `capacity` at once by `launch`. */
async function setUp(
  t: TestContext,
  ids: readonly string[],
  launch: (id: string, signal: AbortSignal) => Promise<void>,
  {
    capacity = 1,
    waiting,
    cleanUp = async () => {},
    forget = () => {},
    placement,
  }: {
    capacity?: number;
    waiting?: SchedulerOptions['waiting'];
    cleanUp?: Executor['cleanUp'];
    forget?: Executor['forget'];
    placement?: JobPlacement;
  } = {},
) {
  const data = mkdtempSync(join(tmpdir(), 'farwharf-scheduler-'));
  const store = new Store(data, 0);
  const files = new JobFiles(data);
  const machineClasses = localMachineClasses();
  const executor: Executor = {
    capacity,
    ...(placement && { placement }),
    isLocal: true,
    keepsEnvironments: () => false,
    refusal: () => undefined,
    launch: ({ id }, _folder, signal) => launch(id, signal),
    status: async () => ({ state: 'gone' }),
    externalId: () => undefined,
    reportSecret: () => undefined,
    cancel: async () => {},
    cleanUp,
    endNow: async () => false,
    forget,
    stop: async () => {},
  };
  const maxRunningJobs = (): number => Number.POSITIVE_INFINITY;
  const scheduler = new Scheduler({
    store,
    files,
    log: silentLogger,
    executor,
    machineClasses,
    maxRunningJobs,
    resultPieces: new ResultPieces(),
    maxResultBytes: 1e9,
    killGraceMs: 100,
    disk: { isShort: false, untilRoom: async () => false },
    secrets: new JobSecrets({ values: () => ({}), redactedInResults: () => [] }),
    waiting: waiting ?? new WaitingContents(data, new ContentStore(data)),
  });
  t.after(async () => {
    await scheduler.stop();
    store.dispose();
    rmSync(data, { recursive: true, force: true });
  });
  const createdAt = Date.now();
  const submit = async (id: string): Promise<void> => {
    const account = id.replace(/\d+$/, '');
    if (store.accounts.find(account) === undefined) {
      store.addAccount({ id: account, name: account, plan: 'team', createdAt });
    }
    mkdirSync(files.folder(id).path);
    const job = {
      id,
      account,
      script: 'a.sh',
      project: null,
      machineClass: 'local',
      maxRuntime: 60,
      createdAt,
      hold: 0,
    };
    await store.submit(job, [], {
      spec: '{}',
      archive: null,
      boot: waiting === undefined ? bootIdentity() : 'not yet',
    });
  };
  await Promise.all(ids.map(submit));
  const job = (id: string): StoredJob => {
    const found = store.jobs.get(id);
    assert.ok(found);
    return found;
  };
  return { store, files, scheduler, job, submit };
}

test('a job whose runner is being started when the service stops keeps what was made for it', async (t) => {
  const forgotten: string[] = [];
  const launched = Promise.withResolvers<void>();
  const launch = async (id: string, signal: AbortSignal): Promise<void> => {
    if (id === 'ada0') return refuse();
    launched.resolve();
    await once(signal, 'abort');
    throw signal.reason;
  };
  const { scheduler } = await setUp(t, ['ada0', 'ada1'], launch, { forget: ({ id }) => forgotten.push(id) });
  scheduler.start();
  await launched.promise;
  await scheduler.stop();
  assert.deepEqual(forgotten, ['ada0']);
});

/** What an executor says that will never start the job, which ends it. */
async function refuse(): Promise<void> {
  throw new AppError('refused', 'Not this one.');
}

test('a job that can neither be started nor ended says why, and is not tried again at once', {
  timeout: GUARD_MS,
}, async (t) => {
  const failures = ['The cluster is misconfigured.', 'The cluster is still misconfigured.'];
  const { scheduler, job } = await setUp(t, ['ada0'], refuse, {
    cleanUp: async () => {
      throw new AppError('refused', failures.shift() ?? 'It was tried again at once.');
    },
  });
  scheduler.start();
  while (job('ada0').reason === null && failures.length > 0) await sleep(5);
  assert.equal(job('ada0').reason, 'The cluster is misconfigured.');
});

test('a job that is cancelled while it waits costs its account no turn', async (t) => {
  const order: string[] = [];
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
  const { scheduler, job } = await setUp(t, ['ada0', 'bob0', 'ada1', 'ada2', 'bob1'], async (id) => {
    order.push(id);
    await isOpen;
    return refuse();
  });
  scheduler.start();
  await scheduler.cancel(job('ada1'));
  open();
  while (job('bob1').finishedAt === null || job('ada2').finishedAt === null) await sleep(5);
  assert.deepEqual(order, ['ada0', 'bob0', 'ada2', 'bob1']);
});

test('a job that is submitted while 10,000 of another account wait is the next one to start', async (t) => {
  const order: string[] = [];
  const isOpen = Promise.withResolvers<void>();
  const hasThird = Promise.withResolvers<void>();
  const adas = Array.from({ length: 10_001 }, (_, index) => `ada${index}`);
  const { scheduler, store, job, submit } = await setUp(t, adas, async (id, signal) => {
    order.push(id);
    if (order.length === 3) {
      hasThird.resolve();
      await once(signal, 'abort');
    }
    await isOpen.promise;
    return refuse();
  });
  scheduler.start();
  await submit('bob0');
  scheduler.enqueue(job('bob0'));
  assert.equal(store.jobs.unfinished().length, 10_002);
  isOpen.resolve();
  await hasThird.promise;
  assert.deepEqual(order, ['ada0', 'bob0', 'ada1']);
});

test('a job that could not be launched, which could not be noted either, is tried again', async (t) => {
  let launches = 0;
  const { scheduler, store, job } = await setUp(t, ['ada0'], async () => {
    launches += 1;
    if (launches === 1) throw new Error('no space left on device');
    return refuse();
  });
  const setState = t.mock.method(store, 'setState', () => {
    throw new Error(FULL);
  });
  scheduler.start();
  while (setState.mock.callCount() === 0) await sleep(5);
  setState.mock.restore();
  while (job('ada0').finishedAt === null) await sleep(5);
  assert.deepEqual([launches, job('ada0').reason?.slice(0, 13)], [2, 'Not this one.']);
});

test('a cancellation that could not be kept can be asked for again', async (t) => {
  const { scheduler, store, job } = await setUp(t, ['ada0'], refuse);
  const finish = t.mock.method(store, 'finish', () => {
    throw new Error(FULL);
  });
  await assert.rejects(scheduler.cancel(job('ada0')), { message: FULL });
  finish.mock.restore();
  await scheduler.cancel(job('ada0'));
  assert.equal(job('ada0').state, 'cancelled');
});

test('a job that waits can be cancelled though a power failure took its files', async (t) => {
  const { scheduler, files, job } = await setUp(t, ['ada0'], refuse);
  const { path } = files.folder('ada0');
  rmSync(path, { recursive: true });
  await scheduler.cancel(job('ada0'));
  assert.equal(job('ada0').state, 'cancelled');
  assert.equal(existsSync(path), false);
});

test('each job that is followed waits at a signal of its own, and the end reaches all', {
  timeout: GUARD_MS,
}, async (t) => {
  const ids = Array.from({ length: 20 }, (_, index) => `ada${index}`);
  const signals = new Set<AbortSignal>();
  const { scheduler, job } = await setUp(
    t,
    ids,
    async (_id, signal) => {
      signals.add(signal);
      await sleep(3_600_000, undefined, { signal });
    },
    { capacity: ids.length },
  );
  scheduler.start();
  while (signals.size < ids.length) await sleep(5, undefined, { signal: t.signal });
  assert.ok(![...signals].some(({ aborted }) => aborted));
  await scheduler.stop();
  assert.ok([...signals].every(({ aborted }) => aborted));
  assert.equal(job('ada0').finishedAt, null);
});

test('a job whose workspace cannot be written from its contents ends with the reason, and is not launched', async (t) => {
  const launched: string[] = [];
  const removed: string[] = [];
  const reason = 'The contents of the job were damaged.';
  const waiting: SchedulerOptions['waiting'] = {
    has: async () => true,
    // oxlint-disable-next-line require-yield -- it fails before the first bytes
    read: async function* () {
      throw new AppError('corrupt', reason);
    },
    remove: async (id) => void removed.push(id),
  };
  const { scheduler, job } = await setUp(t, ['ada0'], async (id) => void launched.push(id), { waiting });
  scheduler.start();
  while (job('ada0').finishedAt === null) await sleep(5);
  assert.equal(job('ada0').reason, reason);
  assert.equal(job('ada0').charged, 0);
  assert.deepEqual(launched, []);
  while (removed.length === 0) await sleep(5);
});

test('a job that is cancelled while its workspace is written is not launched, and leaves no file', async (t) => {
  const launched: string[] = [];
  const { promise: isReading, resolve: begin } = Promise.withResolvers<void>();
  const waiting: SchedulerOptions['waiting'] = {
    has: async () => true,
    read: async function* () {
      begin();
      for (;;) {
        await sleep(1);
        yield Buffer.alloc(512);
      }
    },
    remove: async () => {},
  };
  const { scheduler, files, job } = await setUp(t, ['ada0'], async (id) => void launched.push(id), { waiting });
  scheduler.start();
  await isReading;
  await scheduler.cancel(job('ada0'));
  assert.equal(job('ada0').state, 'cancelled');
  while (scheduler.activeJobs > 0) await sleep(5);
  assert.deepEqual(launched, []);
  assert.equal(existsSync(files.folder('ada0').path), false);
});

/** Places the jobs of a queue as `decide` says: `keep` keeps the machine for a job, and a text is why one waits. */
function placedBy(decide: (id: string) => 'start' | 'keep' | { readonly waits: string | undefined }): JobPlacement {
  return {
    place(order) {
      const starts: QueuedJob[] = [];
      const waits = new Map<string, string | undefined>();
      let first: QueuedJob | undefined;
      const jobs = order();
      for (let next = jobs.next(); next.done !== true; ) {
        const job = next.value;
        const decision = first === undefined ? decide(job.id) : { waits: undefined };
        if (decision === 'start') starts.push(job);
        else if (decision === 'keep') first = job;
        else waits.set(job.id, decision.waits);
        next = jobs.next(decision === 'start' ? 'starts' : decision === 'keep' ? 'first' : 'waits');
      }
      return { starts, waits, first };
    },
    refusalOf: () => undefined,
    onDidChange: () => ({ dispose() {} }),
    adopt() {},
  };
}

test('when the job that the machine is kept for is cancelled, those after it start at once', {
  timeout: GUARD_MS,
}, async (t) => {
  const launched: string[] = [];
  const untilAborted = async (id: string, signal: AbortSignal): Promise<void> => {
    launched.push(id);
    await once(signal, 'abort');
    throw signal.reason;
  };
  const placement = placedBy((id) => (id === 'ada1' ? 'keep' : 'start'));
  const { scheduler, job } = await setUp(t, ['ada0', 'ada1', 'ada2'], untilAborted, { placement });
  scheduler.start();
  while (!launched.includes('ada0')) await sleep(5);
  await scheduler.cancel(job('ada1'));
  while (!launched.includes('ada2')) await sleep(5);
  assert.deepEqual(launched, ['ada0', 'ada2']);
});

test('a job no longer says that it waits for something when it waits for its turn only', async (t) => {
  let reason: string | undefined = 'The job waits for 1 GPU.';
  const placement = placedBy(() => ({ waits: reason }));
  const { scheduler, job } = await setUp(t, ['ada0'], refuse, { placement });
  scheduler.start();
  assert.equal(job('ada0').reason, reason);
  reason = undefined;
  scheduler.startNext();
  assert.equal(job('ada0').reason, null);
});
