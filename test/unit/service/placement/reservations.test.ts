import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MachineClass, MachineClasses } from '../../../../src/service/config/machineClasses.ts';
import type { QueuedJob } from '../../../../src/service/executor/executor.ts';
import { JobQueue } from '../../../../src/service/jobs/jobQueue.ts';
import type { GpuLock, GpuLocks, TakenGpu } from '../../../../src/service/placement/gpuLocks.ts';
import type { Gpu, KnownGpus } from '../../../../src/service/placement/gpus.ts';
import { type MachineSize, Reservations } from '../../../../src/service/placement/reservations.ts';
import { type Below, seeded, TIMES } from '../../../random.ts';

const MIXES = 10_000 * TIMES;
const EVENTS = 20;
const GRACE_MS = 10_000;
const DRIVER_GONE: KnownGpus = { type: 'unknown', why: 'nvidia-smi on the machine does not respond' };

function gpu(id: string): Gpu {
  return { id, lock: id, vendor: undefined, index: id, uuid: undefined, nodes: [] };
}

function machineClass(name: string, needs: Partial<MachineClass> = {}): MachineClass {
  return { name, description: '', cpus: 1, memory_gb: 1, gpus: 0, ...needs };
}

interface Use {
  readonly until: number;
  readonly isShared: boolean;
}

/** A machine whose clock and GPUs the test moves, and its locks, which services share. */
class StandInMachine implements GpuLocks {
  /** GiB that no program uses. */
  unused = Number.POSITIVE_INFINITY;
  now = Date.parse('2026-01-01T12:00:00Z');
  known: KnownGpus;
  readonly size: MachineSize;
  readonly all: readonly string[];
  /** The jobs that have each GPU, until their last process has ended. */
  readonly users = new Map<string, Map<string, Use>>();

  constructor(gpus: number, size: MachineSize) {
    this.all = Array.from({ length: gpus }, (_, index) => String(index));
    this.known = { type: 'known', gpus: this.all.map(gpu) };
    this.size = size;
  }

  take(name: string, { jobId, until, isShared }: Parameters<GpuLocks['take']>[1]): GpuLock | TakenGpu {
    const users = this.users.get(name) ?? new Map<string, Use>();
    this.users.set(name, users);
    const other = [...users.values()].find((user) => !isShared || !user.isShared);
    if (other !== undefined) return other;
    users.set(jobId, { until, isShared });
    return { descriptor: undefined, release: () => users.delete(jobId), leave() {} };
  }

  /** The last process of a job has ended. */
  free(jobId: string): void {
    for (const users of this.users.values()) users.delete(jobId);
  }
}

interface ActiveJob {
  readonly job: QueuedJob;
  readonly gpus: readonly string[];
  readonly startedAt: number;
}

/** A service as the scheduler drives its parts. */
class StandInService {
  readonly #machine: StandInMachine;
  readonly #classes: MachineClasses;
  reservations: Reservations;
  queue = new JobQueue();
  readonly waiting = new Map<string, QueuedJob>();
  readonly active = new Map<string, ActiveJob>();
  readonly started: string[] = [];
  first: QueuedJob | undefined;
  reasons: ReadonlyMap<string, string | undefined> = new Map();

  constructor(machine: StandInMachine, classes: readonly [MachineClass, ...MachineClass[]]) {
    this.#machine = machine;
    this.#classes = new MachineClasses(classes);
    this.reservations = this.#reservations();
  }

  #reservations(): Reservations {
    const { size } = this.#machine;
    const machine = this.#machine;
    return new Reservations({
      size,
      memory: { unused: () => machine.unused, keptFree: 0.5 },
      machineClasses: this.#classes,
      gpus: () => machine.known,
      locks: machine,
      now: () => machine.now,
    });
  }

  submit(job: QueuedJob): void {
    this.waiting.set(job.id, job);
    this.queue.add(job);
  }

  place(): void {
    const { starts, waits, first } = this.reservations.place(() => this.queue.order(() => Number.POSITIVE_INFINITY));
    this.queue.keepFirst(first);
    this.first = first;
    this.reasons = waits;
    for (const job of starts) {
      assert.ok(this.waiting.delete(job.id), 'no job starts twice');
      this.queue.start(job);
      this.queue.noteAtWork(job.account);
      this.started.push(job.id);
      const { gpus = [] } = this.reservations.of(job.id) ?? {};
      this.active.set(job.id, { job, gpus, startedAt: this.#machine.now });
    }
  }

  /** The last process of a job has ended, and the service has seen it. */
  end(id: string): void {
    const active = this.active.get(id);
    assert.ok(active);
    this.active.delete(id);
    this.#machine.free(id);
    this.reservations.release(id);
    this.queue.release(active.job.account);
  }

  cancel(job: QueuedJob): void {
    this.waiting.delete(job.id);
    this.queue.remove(job);
  }

  /** Its jobs continue. */
  restart(): void {
    this.reservations.close();
    this.reservations = this.#reservations();
    this.queue = new JobQueue();
    for (const { job, gpus, startedAt } of this.active.values()) {
      this.reservations.adopt(job, { gpus, startedAt });
      this.queue.noteAtWork(job.account);
    }
    for (const job of this.waiting.values()) this.queue.add(job);
  }
}

function job(id: string, name: string, maxRuntime: number, account = id.replace(/\d+$/, '')): QueuedJob {
  return { id, account, machineClass: name, maxRuntime };
}

function checkAmounts(
  machine: StandInMachine,
  service: StandInService,
  classes: ReadonlyMap<string, MachineClass>,
): void {
  const { cpus, memoryGb, jobs } = machine.size;
  let [usedCpus, usedMemory] = [0, 0];
  for (const { job: one } of service.active.values()) {
    const found = classes.get(one.machineClass);
    if (found === undefined || found.shared === true) continue;
    usedCpus += Math.min(found.cpus, cpus);
    usedMemory += Math.min(found.memory_gb, memoryGb);
  }
  assert.ok(usedCpus <= cpus, `${usedCpus} of ${cpus} cores`);
  assert.ok(usedMemory <= memoryGb + 1e-9, `${usedMemory} of ${memoryGb} GB`);
  assert.ok(service.active.size <= jobs, `${service.active.size} of ${jobs} jobs`);
}

/** No GPU has two jobs of which one has it for itself, whichever services they are of; and each job has what its class says. */
function checkGpus(services: readonly StandInService[], classes: ReadonlyMap<string, MachineClass>): void {
  const users = new Map<string, boolean[]>();
  for (const { job: one, gpus } of services.flatMap(({ active }) => [...active.values()])) {
    const found = classes.get(one.machineClass);
    const isShared = found?.shared === true;
    if (!isShared) assert.equal(gpus.length, found?.gpus);
    for (const each of gpus) users.set(each, [...(users.get(each) ?? []), isShared]);
  }
  for (const [each, sharing] of users)
    assert.ok(sharing.length === 1 || sharing.every(Boolean), `GPU ${each} has ${sharing.length} jobs`);
}

/** When a job could start if every running one used up its time limit: by trying each end. */
function startAtTheLatest(
  machine: StandInMachine,
  service: StandInService,
  first: QueuedJob,
  classes: ReadonlyMap<string, MachineClass>,
): number {
  const endOf = ({ job: one, startedAt }: ActiveJob): number => startedAt + 1_000 * one.maxRuntime + GRACE_MS;
  const { cpus, memoryGb, jobs } = machine.size;
  const needs = classes.get(first.machineClass);
  assert.ok(needs);
  const ends = [...service.active.values()].map(endOf).toSorted((a, b) => a - b);
  const found = ends.find((at) => {
    const left = [...service.active.values()].filter((one) => endOf(one) > at);
    const sum = (of: (one: MachineClass) => number): number =>
      left.reduce((total, { job: one }) => total + of(classes.get(one.machineClass) ?? machineClass('none')), 0);
    return (
      left.length < jobs &&
      sum((one) => Math.min(one.cpus, cpus)) + Math.min(needs.cpus, cpus) <= cpus &&
      sum((one) => Math.min(one.memory_gb, memoryGb)) + Math.min(needs.memory_gb, memoryGb) <= memoryGb &&
      new Set(left.flatMap(({ gpus }) => gpus)).size + needs.gpus <= machine.all.length
    );
  });
  return found ?? machine.now;
}

/** One random mix of classes, jobs, ends, kills, restarts, and GPUs and memory that come and go, until all of its jobs have ended. */
function runMix(below: Below): void {
  const gpus = below(5);
  const size = { jobs: 1 + below(6), cpus: 1 + below(8), memoryGb: 4 * (1 + below(6)) };
  const machine = new StandInMachine(gpus, size);
  const isCalm = below(2) === 0;
  const randomClass = (_: unknown, index: number): MachineClass =>
    machineClass(`class${index}`, {
      cpus: 1 + below(size.cpus + 2),
      memory_gb: 1 + below(size.memoryGb + 4),
      gpus: below(gpus + 1),
      ...(!isCalm && below(6) === 0 && { shared: true }),
    });
  const list = Array.from({ length: 1 + below(4) }, randomClass);
  const classes = new Map(list.map((one) => [one.name, one]));
  const [firstClass, ...rest] = list;
  assert.ok(firstClass);
  const services = Array.from({ length: isCalm ? 1 : 2 }, () => new StandInService(machine, [firstClass, ...rest]));
  const killed = new Set<string>();
  let [submitted, promised]: [number, { readonly id: string; readonly by: number } | undefined] = [0, undefined];
  const placeAll = (): void => {
    for (const service of services) {
      service.place();
      checkAmounts(machine, service, classes);
    }
    checkGpus(services, classes);
    const [only] = services;
    if (!isCalm || only === undefined) return;
    if (promised !== undefined && only.waiting.has(promised.id))
      assert.ok(machine.now < promised.by, 'no later job delays the first that waits');
    if (only.first === undefined) promised = undefined;
    else if (only.first.id !== promised?.id)
      promised = { id: only.first.id, by: startAtTheLatest(machine, only, only.first, classes) };
  };
  for (let event = 0; event < EVENTS; event += 1) {
    const service = services[below(services.length)];
    assert.ok(service);
    const running = [...service.active.keys()];
    const some = running[below(running.length || 1)];
    switch (below(isCalm ? 6 : 11)) {
      case 3:
        if (some !== undefined) service.end(some);
        break;
      case 4:
        // Its processes are left running until the service has seen it.
        if (some !== undefined) killed.add(some);
        break;
      case 5: {
        machine.now += 1_000 * below(30);
        break;
      }
      case 6:
        service.restart();
        break;
      case 7:
        machine.known =
          below(3) === 0 ? DRIVER_GONE : { type: 'known', gpus: machine.all.filter(() => below(3) > 0).map(gpu) };
        break;
      case 9:
        machine.unused = below(3) === 0 ? Number.POSITIVE_INFINITY : below(2 * size.memoryGb);
        break;
      case 8: {
        const [waiting] = service.waiting.values();
        if (waiting !== undefined) service.cancel(waiting);
        break;
      }
      default: {
        const of = list[below(list.length)] ?? firstClass;
        submitted += 1;
        service.submit(job(`j${submitted}`, of.name, 1 + below(60), ['ada', 'bob', 'eve'][below(3)]));
      }
    }
    for (const each of services)
      for (const [id, { job: one, startedAt }] of each.active)
        if (machine.now >= startedAt + 1_000 * one.maxRuntime || (killed.has(id) && below(2) === 0)) each.end(id);
    placeAll();
  }
  machine.known = { type: 'known', gpus: machine.all.map(gpu) };
  machine.unused = Number.POSITIVE_INFINITY;
  for (let round = 0; services.some(({ waiting, active }) => waiting.size + active.size > 0); round += 1) {
    assert.ok(round <= submitted, 'a job never starts');
    // The GPUs of the other service are tried again after a while.
    machine.now += 6_000;
    placeAll();
    for (const each of services) for (const id of each.active.keys()) each.end(id);
    promised = undefined;
  }
  for (const [each, users] of machine.users) assert.equal(users.size, 0, `GPU ${each} is still taken`);
  for (const service of services) assert.equal(service.reservations.heldJobs, 0);
}

test('10,000 random mixes: no GPU twice, no memory beyond the machine, the first is not delayed, all jobs run, and nothing stays reserved', () => {
  for (let seed = 0; seed < MIXES; seed += 1) {
    try {
      runMix(seeded(seed));
    } catch (error) {
      throw new Error(`Mix ${seed} failed.`, { cause: error });
    }
  }
});

test('jobs of a class with one GPU each get one of their own, and the others say what they wait for', () => {
  const machine = new StandInMachine(2, { jobs: 8, cpus: 8, memoryGb: 24 });
  const service = new StandInService(machine, [machineClass('gpu', { gpus: 1 }), machineClass('all', { gpus: 2 })]);
  for (const id of ['a1', 'a2', 'a3']) service.submit(job(id, 'gpu', 8_400));
  service.submit(job('b1', 'all', 60));
  service.place();
  assert.deepEqual(
    [...service.active.values()].map(({ gpus }) => gpus),
    [['0'], ['1']],
  );
  assert.deepEqual(Object.fromEntries(service.reasons), {
    a3: 'The job waits for 1 GPU: 2 of 2 in use, the first free by 14:21 UTC.',
    b1: 'The job waits for 2 GPUs: 2 of 2 in use, the first free by 14:21 UTC.',
  });
  service.end('a1');
  service.place();
  assert.deepEqual(service.active.get('a3')?.gpus, ['0']);
  machine.known = DRIVER_GONE;
  service.place();
  assert.equal(service.reasons.get('b1'), 'The job waits for 2 GPUs: nvidia-smi on the machine does not respond.');
});

test('memory and cores are promised once, and a class that asks for more than the machine has runs alone', () => {
  const machine = new StandInMachine(0, { jobs: 8, cpus: 4, memoryGb: 24 });
  const classes = [
    machineClass('large', { memory_gb: 20 }),
    machineClass('wide', { cpus: 3 }),
    machineClass('huge', { cpus: 64, memory_gb: 512 }),
  ] as const;
  const service = new StandInService(machine, classes);
  for (const id of ['a1', 'a2', 'a3']) service.submit(job(id, 'large', 600));
  service.place();
  assert.deepEqual(service.started, ['a1']);
  assert.equal(
    service.reasons.get('a2'),
    'The job waits for 20 GB of memory: 20 of 24 in use, the first free by 12:11 UTC.',
  );
  service.submit(job('b1', 'wide', 60));
  service.submit(job('b2', 'wide', 60));
  service.place();
  assert.deepEqual(service.started, ['a1', 'b1'], 'it ends before the memory is free');
  assert.match(
    service.reasons.get('b2') ?? '',
    /^The job waits for 3 cores: 4 of 4 in use, the first free by 12:02 UTC\.$/,
  );
  for (const id of ['a1', 'b1']) service.end(id);
  for (const id of ['a2', 'a3', 'b2']) service.cancel(job(id, 'large', 600, id.slice(0, 1)));
  for (const id of ['c1', 'c2']) service.submit(job(id, 'huge', 600));
  service.place();
  assert.deepEqual(service.started, ['a1', 'b1', 'c1']);
  service.end('c1');
  service.place();
  assert.deepEqual(service.started, ['a1', 'b1', 'c1', 'c2']);
});

test('a job that shares the machine waits for nothing, and leaves alone the GPUs that others have for themselves', () => {
  const machine = new StandInMachine(2, { jobs: 4, cpus: 1, memoryGb: 1 });
  const shared = machineClass('local', { cpus: 8, memory_gb: 64, gpus: 2, shared: true });
  const service = new StandInService(machine, [shared, machineClass('gpu', { gpus: 1 })]);
  const other = new StandInService(machine, [machineClass('gpu', { gpus: 1 })]);
  other.submit(job('o1', 'gpu', 60));
  other.place();
  for (const id of ['a1', 'a2', 'a3']) service.submit(job(id, 'local', 600));
  service.submit(job('b1', 'gpu', 600));
  service.place();
  assert.deepEqual(
    [...service.active.values()].map(({ gpus }) => gpus),
    [['1'], ['1'], ['1']],
  );
  assert.match(service.reasons.get('b1') ?? '', /^The job waits for 1 GPU: 2 of 2 in use/);
  assert.equal(service.reservations.refusalOf('gpu'), undefined);
});

test('a class with more GPUs than the machine ever had is refused, unless the driver has not answered', () => {
  const machine = new StandInMachine(2, { jobs: 4, cpus: 4, memoryGb: 8 });
  const service = new StandInService(machine, [machineClass('two', { gpus: 2 }), machineClass('three', { gpus: 3 })]);
  const { reservations } = service;
  assert.equal(reservations.refusalOf('two'), undefined);
  assert.equal(reservations.refusalOf('three'), 'It asks for 3 GPUs, and jobs can have 2.');
  machine.known = { type: 'known', gpus: [gpu('0')] };
  assert.equal(reservations.refusalOf('two'), undefined, 'one may come back');
  service.submit(job('a1', 'two', 60));
  service.place();
  assert.equal(service.reasons.get('a1'), 'The job waits for 2 GPUs: the machine has 1 now.');
  machine.known = DRIVER_GONE;
  assert.equal(reservations.refusalOf('three'), undefined);
});

test('of many jobs that wait, only the first say how much is in use, so that little is stored when that changes', () => {
  const machine = new StandInMachine(1, { jobs: 4, cpus: 4, memoryGb: 8 });
  const service = new StandInService(machine, [machineClass('gpu', { gpus: 1 })]);
  for (let index = 0; index < 100; index += 1) service.submit(job(`a${index}`, 'gpu', 60));
  service.place();
  const reasons = [...service.reasons.values()];
  assert.equal(reasons.filter((reason) => reason?.includes('1 of 1 in use') === true).length, 20);
  assert.equal(reasons.filter((reason) => reason === 'The job waits for 1 GPU: others wait before it.').length, 79);
});

test('a job that waits for memory which other programs use keeps no GPU from the jobs after it, nor do they starve it', () => {
  const machine = new StandInMachine(1, { jobs: 8, cpus: 8, memoryGb: 24 });
  const classes = [
    machineClass('small', { memory_gb: 4 }),
    machineClass('large', { memory_gb: 16, gpus: 1 }),
    machineClass('gpu', { memory_gb: 1, gpus: 1 }),
  ] as const;
  const service = new StandInService(machine, classes);
  service.submit(job('a1', 'small', 600));
  service.place();
  machine.unused = 8;
  service.submit(job('b1', 'large', 600));
  service.submit(job('b2', 'gpu', 60));
  service.submit(job('b3', 'small', 3_600));
  service.place();
  assert.deepEqual(service.started, ['a1', 'b2'], 'it ends before the memory is free');
  assert.equal(
    service.reasons.get('b1'),
    'The job waits for memory: the machine has less available than the 16.0 GB for this job and the 0.5 GB that stay free ([process] min_free_memory_gb).',
  );
  assert.equal(service.reasons.get('b3'), 'The job waits for 4 GB of memory: kept for a job before it.');
  assert.ok(service.reservations.waitsForOthers, 'no event of a job reports memory that a program frees');
  assert.equal(machine.users.get('0')?.has('b1'), false);
  service.end('b2');
  service.end('a1');
  service.place();
  assert.deepEqual(service.started, ['a1', 'b2', 'b1'], 'alone, it starts with less');
});

test('no job starts below the memory that stays free, and those that start at once count what each other will use', () => {
  const machine = new StandInMachine(0, { jobs: 8, cpus: 8, memoryGb: 24 });
  const service = new StandInService(machine, [
    machineClass('small', { memory_gb: 4 }),
    machineClass('shared', { shared: true }),
  ]);
  machine.unused = 0.4;
  service.submit(job('a1', 'small', 600));
  service.submit(job('b1', 'shared', 600));
  service.place();
  assert.deepEqual(service.started, []);
  assert.equal(
    service.reasons.get('b1'),
    'The job waits for memory: the machine has less available than the 0.5 GB that stay free ([process] min_free_memory_gb).',
  );
  machine.unused = 9;
  for (const id of ['a2', 'a3']) service.submit(job(id, 'small', 600));
  service.place();
  assert.deepEqual(service.started, ['a1', 'b1', 'a2']);
});
