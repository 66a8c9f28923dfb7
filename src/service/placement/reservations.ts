import { Emitter } from '../../core/processes/lifetime.ts';
import { writeWaitingReason } from '../../remote/protocol/waitingReason.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import type { JobPlacement, PlacedJobs, QueuedJob, QueueVerdict } from '../executor/executor.ts';
import type { GpuLock, GpuLocks } from './gpuLocks.ts';
import type { Gpu, KnownGpus } from './gpus.ts';
import { type MachineCapacity, PlacementPass, type Request, type Reservation, type Shortage } from './placement.ts';

const MIB_PER_GIB = 1024;
// What a job may take after its time limit: the grace period, and packing its results.
const END_MS = 10_000;
// A GPU that a job of another service has is tried again after that.
const RETRY_MS = 5_000;
// Sentences with figures change often, and each change is stored.
const MAX_DETAILED = 20;
const NOTHING: Request = { cpus: 0, memory: 0, gpus: 0, isShared: false };

export interface MachineSize {
  /** Jobs at once. */
  readonly jobs: number;
  readonly cpus: number;
  /** GiB. */
  readonly memoryGb: number;
}

export interface ReservationOptions {
  readonly size: MachineSize;
  readonly machineClasses: MachineClasses;
  /** How many GiB no program uses at the moment, and how many of those stay free. */
  readonly memory: { readonly unused: () => number; readonly keptFree: number };
  /** The GPUs as they are known now. */
  readonly gpus: () => KnownGpus;
  readonly locks: GpuLocks;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** What a job has from its start until its last process has ended. */
export interface HeldReservation extends Reservation {
  readonly locks: readonly GpuLock[];
}

interface PlannedStart extends Reservation {
  readonly job: QueuedJob;
}

interface Plan extends Omit<PlacedJobs, 'starts'> {
  readonly starts: readonly PlannedStart[];
}

/** What the jobs of a service have of its machine: their cores, memory and GPUs. */
export class Reservations implements Omit<JobPlacement, 'adopt'> {
  readonly #options: ReservationOptions;
  readonly #now: () => number;
  readonly #held = new Map<string, HeldReservation>();
  /** GPUs that jobs of other services have, until when at most, and when they are tried again. */
  readonly #elsewhere = new Map<string, { readonly until: number; readonly retryAt: number }>();
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;
  #mostGpus = 0;
  #waitsForOthers = false;

  constructor(options: ReservationOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get maxJobs(): number {
    return this.#options.size.jobs;
  }

  place(order: () => Generator<QueuedJob, void, QueueVerdict>): PlacedJobs {
    const now = this.#now();
    for (const [gpu, { retryAt }] of this.#elsewhere) if (retryAt <= now) this.#elsewhere.delete(gpu);
    for (;;) {
      const plan = this.#plan(order(), now);
      // Each turn finds another GPU that is not free.
      if (this.#lock(plan.starts, now)) return { ...plan, starts: plan.starts.map(({ job }) => job) };
    }
  }

  /** Reserves what a job of an earlier service has. */
  adopt(job: QueuedJob, { gpus, startedAt }: { readonly gpus: readonly string[]; readonly startedAt: number }): void {
    if (this.#held.has(job.id)) return;
    const request = this.#requestOf(job);
    this.#held.set(job.id, { request, gpus, endsAt: startedAt + limitOf(job), locks: [] });
  }

  refusalOf(machineClass: string): string | undefined {
    const found = this.#options.machineClasses.get(machineClass);
    const known = this.#options.gpus();
    if (found === undefined || found.shared === true || known.type !== 'known') return undefined;
    this.#mostGpus = Math.max(this.#mostGpus, known.gpus.length);
    if (found.gpus <= this.#mostGpus) return undefined;
    return `It asks for ${counted(found.gpus)}, and jobs can have ${this.#mostGpus}.`;
  }

  /** What a job has; undefined before its start and after its end. */
  of(jobId: string): HeldReservation | undefined {
    return this.#held.get(jobId);
  }

  get heldJobs(): number {
    return this.#held.size;
  }

  /** Whether a GPU or memory may have become free that no event reports. */
  get waitsForOthers(): boolean {
    return this.#waitsForOthers;
  }

  /** Called when GPUs come or go, or may be free again. */
  noteChange(): void {
    this.#changed.fire();
  }

  /** Called when the last process of a job has ended. */
  release(jobId: string): void {
    for (const lock of this.#held.get(jobId)?.locks ?? []) lock.release();
    this.#held.delete(jobId);
  }

  /** Leaves the locks to the runners of jobs, which continue. */
  close(): void {
    for (const { locks } of this.#held.values()) for (const lock of locks) lock.leave();
    this.#held.clear();
  }

  #plan(order: Generator<QueuedJob, void, QueueVerdict>, now: number): Plan {
    const pass = new PlacementPass(this.#machine(), this.#held.values(), now);
    const starts: PlannedStart[] = [];
    const shortages = new Map<string, Shortage | undefined>();
    let first: QueuedJob | undefined;
    this.#waitsForOthers = false;
    for (let next = order.next(); next.done !== true; ) {
      const job = next.value;
      const candidate = { request: this.#requestOf(job), limit: limitOf(job) };
      // Which GPUs there are to share is known in a moment.
      if (candidate.request.isShared && this.#options.gpus().type === 'pending') {
        shortages.set(job.id, undefined);
        next = order.next('waits');
        continue;
      }
      const decision = pass.decide(candidate);
      if (decision.type === 'start') {
        starts.push({ job, request: candidate.request, gpus: decision.gpus, endsAt: now + candidate.limit });
        next = order.next('starts');
        continue;
      }
      if (decision.isFirst) first = job;
      this.#waitsForOthers ||= candidate.request.gpus > 0 || isOfUnused(decision.shortage);
      shortages.set(job.id, decision.shortage);
      next = order.next(decision.isFirst ? 'first' : 'waits');
    }
    const waits = [...shortages].map(
      ([id, shortage], index) => [id, shortage && this.#reasonOf(shortage, pass, index < MAX_DETAILED, now)] as const,
    );
    return { starts, waits: new Map(waits), first };
  }

  #lock(starts: readonly PlannedStart[], now: number): boolean {
    const gpus = new Map(this.#gpus().map((gpu) => [gpu.id, gpu]));
    const taken = new Map<PlannedStart, GpuLock[]>(starts.map((start) => [start, []]));
    for (const [start, locks] of taken) {
      for (const id of start.gpus) {
        const gpu = gpus.get(id);
        const { endsAt, request, job } = start;
        const lock =
          gpu && this.#options.locks.take(gpu.lock, { jobId: job.id, until: endsAt, isShared: request.isShared });
        if (lock === undefined) continue;
        if ('release' in lock) {
          locks.push(lock);
          continue;
        }
        this.#elsewhere.set(id, { until: Math.max(lock.until, now), retryAt: now + RETRY_MS });
        for (const each of [...taken.values()].flat()) each.release();
        return false;
      }
    }
    for (const [{ job, request, gpus: own, endsAt }, locks] of taken)
      this.#held.set(job.id, { request, gpus: own, endsAt, locks });
    return true;
  }

  #gpus(): readonly Gpu[] {
    const known = this.#options.gpus();
    return known.type === 'known' ? known.gpus : [];
  }

  #machine(): MachineCapacity {
    const { size, memory } = this.#options;
    const gpus = this.#gpus().map(({ id }) => id);
    this.#mostGpus = Math.max(this.#mostGpus, gpus.length);
    const elsewhere = new Map([...this.#elsewhere].map(([gpu, { until }]) => [gpu, until]));
    return {
      jobs: size.jobs,
      cpus: size.cpus,
      memory: mebibytes(size.memoryGb),
      unused: mebibytes(memory.unused()),
      keptFree: mebibytes(memory.keptFree),
      gpus,
      elsewhere,
    };
  }

  /** A class that is no longer in the configuration has nothing. */
  #requestOf({ machineClass }: Pick<QueuedJob, 'machineClass'>): Request {
    const found = this.#options.machineClasses.get(machineClass);
    if (found === undefined) return NOTHING;
    const { cpus, memory_gb: memoryGb, gpus, shared: isShared = false } = found;
    return { cpus, memory: Math.ceil(memoryGb * MIB_PER_GIB), gpus, isShared };
  }

  #reasonOf(shortage: Shortage, pass: PlacementPass, isDetailed: boolean, now: number): string | undefined {
    if (shortage.type === 'absent') {
      const known = this.#options.gpus();
      if (known.type !== 'known') return `The job waits for ${counted(shortage.needed)}: ${known.why}.`;
      return writeWaitingReason({ ...shortage, resource: 'gpus' }, now);
    }
    const { resource } = shortage;
    // That every slot is taken says nothing that "queued" does not.
    if (resource === 'jobs') return undefined;
    if (shortage.type === 'in-use' && resource === 'unused') return this.#memoryReason(shortage.needed);
    const shown = resource === 'unused' ? 'memory' : resource;
    const amount = (value: number): number => (shown === 'memory' ? Math.round(value / 102.4) / 10 : value);
    const about = { resource: shown, needed: amount(shortage.needed) } as const;
    if (!isDetailed) return writeWaitingReason({ ...about, type: 'behind' }, now);
    if (shortage.type === 'kept') return writeWaitingReason({ ...about, type: 'kept' }, now);
    const { used, of, freeAt } = pass.usageOf(resource);
    return writeWaitingReason({ ...about, type: 'in-use', used: amount(used), of: amount(of), freeAt }, now);
  }

  /** Without what the machine has at the moment, which changes all the time. */
  #memoryReason(needed: number): string {
    const { keptFree } = this.#options.memory;
    const own = needed === 1 ? '' : `the ${(needed / MIB_PER_GIB).toFixed(1)} GB for this job and `;
    return `The job waits for memory: the machine has less available than ${own}the ${keptFree.toFixed(1)} GB that stay free ([process] min_free_memory_gb).`;
  }
}

function isOfUnused(shortage: Shortage): boolean {
  return shortage.type !== 'absent' && shortage.resource === 'unused';
}

function mebibytes(gibibytes: number): number {
  return Math.floor(gibibytes * MIB_PER_GIB);
}

function limitOf({ maxRuntime }: Pick<QueuedJob, 'maxRuntime'>): number {
  return 1_000 * maxRuntime + END_MS;
}

function counted(gpus: number): string {
  return gpus === 1 ? '1 GPU' : `${gpus} GPUs`;
}
