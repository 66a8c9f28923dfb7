// Decides which queued jobs start on one machine, and what the others wait for. It knows neither processes nor clocks.

/** What one job needs. */
export interface Request {
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
  readonly gpus: number;
  /** Whether the job shares the machine with others of its kind: it waits for nothing, and gets each GPU that no job has for itself. */
  readonly isShared: boolean;
}

/** What a machine has for jobs. */
export interface MachineCapacity {
  /** Jobs at once. */
  readonly jobs: number;
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
  /** What of it no program uses now, and what of that stays free, in MiB. Other programs than jobs use memory too. */
  readonly unused: number;
  readonly keptFree: number;
  /** The GPUs that are there now. */
  readonly gpus: readonly string[];
  /** Until when jobs of other services have some of them, in milliseconds. */
  readonly elsewhere: ReadonlyMap<string, number>;
}

/** What a job has that has started. */
export interface Reservation {
  readonly request: Request;
  readonly gpus: readonly string[];
  /** When its time limit ends it, in milliseconds. */
  readonly endsAt: number;
}

/** A job that waits. */
export interface PlacementCandidate {
  readonly request: Request;
  /** Its time limit in milliseconds. */
  readonly limit: number;
}

/** Memory is what classes promise; `unused` is what no program uses at the moment. */
export type Resource = 'gpus' | 'memory' | 'unused' | 'cpus' | 'jobs';

/** Why a job waits. */
export type Shortage =
  /** In use: too little is free. Kept: the job would delay the first that waits. */
  | { readonly type: 'in-use' | 'kept'; readonly resource: Resource; readonly needed: number }
  /** So many of the GPUs are gone that it cannot start. */
  | { readonly type: 'absent'; readonly needed: number; readonly of: number };

export type Decision =
  | { readonly type: 'start'; readonly gpus: readonly string[] }
  /** `isFirst`: the machine is kept for this job from now on. */
  | { readonly type: 'wait'; readonly shortage: Shortage; readonly isFirst: boolean };

/** How much of a resource jobs have, and when the first of that is free at the latest, in milliseconds. */
export interface ResourceUsage {
  readonly used: number;
  readonly of: number;
  readonly freeAt: number;
}

type Amounts = Readonly<Record<Resource, number>>;

// The first that is missing is the one that a job waits for.
const RESOURCES = ['gpus', 'memory', 'unused', 'cpus', 'jobs'] as const satisfies readonly Resource[];

/**
 * Decides about candidates one by one, in the order of the queue. The machine is kept for the first that does not fit: a later one starts
 * only if its time limit ends it before the first one's earliest start, or if it takes nothing that the first one needs then (EASY
 * backfilling: D. Lifka, "The ANL/IBM SP scheduling system", 1995). It is not kept for a job that GPUs are missing for, because nobody
 * knows when they return.
 */
export class PlacementPass {
  readonly #machine: MachineCapacity;
  readonly #now: number;
  readonly #reserved: Reservation[];
  #free: Amounts;
  #freeGpus: readonly string[];
  /** When the first that waits can start, and what is left beside it then. */
  #first: { readonly at: number; readonly spare: Amounts } | undefined;

  /** @param reserved by the jobs that have started. @param now milliseconds. */
  constructor(machine: MachineCapacity, reserved: Iterable<Reservation>, now: number) {
    this.#machine = machine;
    this.#now = now;
    this.#reserved = [...reserved];
    const taken = new Set([...machine.elsewhere.keys(), ...this.#reserved.flatMap(({ gpus }) => gpus)]);
    this.#freeGpus = machine.gpus.filter((gpu) => !taken.has(gpu));
    const own = this.#reserved.reduce((sum, { request }) => plus(sum, heldBy(request, this.#machine)), NOTHING);
    // Running jobs use theirs already.
    const unused = machine.unused - machine.keptFree;
    this.#free = { ...minus(wholeOf(machine), own), gpus: this.#freeGpus.length, unused };
  }

  decide({ request, limit }: PlacementCandidate): Decision {
    const machine = this.#machine;
    if (!request.isShared && request.gpus > machine.gpus.length) {
      const shortage = { type: 'absent', needed: request.gpus, of: machine.gpus.length } as const;
      return { type: 'wait', shortage, isFirst: false };
    }
    const held = heldBy(request, machine);
    const needs = this.#needsOf(held);
    const missing = firstMissing(needs, this.#free);
    if (missing !== undefined) {
      const isFirst = this.#first === undefined;
      this.#first ??= this.#earliestStart(needs);
      return { type: 'wait', shortage: { type: 'in-use', resource: missing, needed: needs[missing] }, isFirst };
    }
    const gpus = request.isShared ? this.#sharedGpus() : this.#freeGpus.slice(0, request.gpus);
    const rest = this.#freeGpus.filter((gpu) => !gpus.includes(gpu));
    const takes = { ...held, gpus: this.#freeGpus.length - rest.length };
    const endsAt = this.#now + limit;
    if (this.#first !== undefined && endsAt > this.#first.at) {
      const { at, spare } = this.#first;
      const delayed = firstMissing(takes, spare);
      if (delayed !== undefined) {
        const shortage = { type: 'kept', resource: delayed, needed: takes[delayed] } as const;
        return { type: 'wait', shortage, isFirst: false };
      }
      this.#first = { at, spare: minus(spare, takes) };
    }
    this.#reserved.push({ request, gpus, endsAt });
    this.#free = minus(this.#free, takes);
    this.#freeGpus = rest;
    return { type: 'start', gpus };
  }

  /** After the decisions so far. */
  usageOf(resource: Resource): ResourceUsage {
    const of = wholeOf(this.#machine)[resource];
    const isUser = ({ request, gpus }: Reservation): boolean =>
      resource === 'gpus' ? gpus.length > 0 : heldBy(request, this.#machine)[resource] > 0;
    const ends = this.#reserved.filter(isUser).map(({ endsAt }) => endsAt);
    if (resource === 'gpus') ends.push(...this.#machine.elsewhere.values());
    return { used: of - this.#free[resource], of, freeAt: Math.max(this.#now, Math.min(...ends)) };
  }

  /** A job that is alone, or about as large as the machine, starts with less unused memory, because waiting would not help. */
  #needsOf(held: Amounts): Amounts {
    const { memory, keptFree } = this.#machine;
    const isInVain = this.#reserved.length === 0 || held.memory + keptFree > memory;
    return { ...held, unused: isInVain ? SOME : Math.max(SOME, held.unused) };
  }

  /** The GPUs that no job has for itself. */
  #sharedGpus(): readonly string[] {
    const alone = new Set(this.#reserved.filter(({ request }) => !request.isShared).flatMap(({ gpus }) => gpus));
    return this.#machine.gpus.filter((gpu) => !alone.has(gpu) && !this.#machine.elsewhere.has(gpu));
  }

  /** When a job that does not fit now can start at the latest, and what is left beside it then. */
  #earliestStart(needs: Amounts): { readonly at: number; readonly spare: Amounts } {
    const holders = new Map(this.#machine.gpus.map((gpu) => [gpu, 0]));
    const ends = [
      ...this.#reserved.map(({ request, gpus, endsAt }) => ({ endsAt, gpus, held: heldBy(request, this.#machine) })),
      ...[...this.#machine.elsewhere].map(([gpu, endsAt]) => ({ endsAt, gpus: [gpu], held: NOTHING })),
    ].toSorted((one, other) => one.endsAt - other.endsAt);
    for (const gpu of ends.flatMap(({ gpus }) => gpus)) holders.set(gpu, (holders.get(gpu) ?? Number.NaN) + 1);
    let free = this.#free;
    let at = this.#now;
    for (const { endsAt, gpus, held } of ends) {
      if (endsAt > at && firstMissing(needs, free) === undefined) break;
      at = Math.max(at, endsAt);
      for (const gpu of gpus) holders.set(gpu, (holders.get(gpu) ?? Number.NaN) - 1);
      free = { ...plus(free, held), gpus: [...holders.values()].filter((count) => count === 0).length };
    }
    return { at, spare: minus(free, needs) };
  }
}

const NOTHING: Amounts = { gpus: 0, memory: 0, unused: 0, cpus: 0, jobs: 0 };
const SOME = 1;

function wholeOf({ jobs, cpus, memory, unused, keptFree, gpus }: MachineCapacity): Amounts {
  return { jobs, cpus, memory, unused: unused - keptFree, gpus: gpus.length };
}

/** What a job has until it ends. One whose class is larger than the machine gets all of it, and runs alone. */
function heldBy({ cpus, memory, gpus, isShared }: Request, machine: MachineCapacity): Amounts {
  if (isShared) return { ...NOTHING, jobs: 1 };
  const own = Math.min(memory, machine.memory);
  return { jobs: 1, cpus: Math.min(cpus, machine.cpus), memory: own, unused: own, gpus };
}

function firstMissing(needs: Amounts, free: Amounts): Resource | undefined {
  return RESOURCES.find((resource) => needs[resource] > 0 && needs[resource] > free[resource]);
}

function plus(one: Amounts, other: Amounts): Amounts {
  return {
    gpus: one.gpus + other.gpus,
    memory: one.memory + other.memory,
    unused: one.unused + other.unused,
    cpus: one.cpus + other.cpus,
    jobs: one.jobs + other.jobs,
  };
}

function minus(one: Amounts, other: Amounts): Amounts {
  return {
    gpus: one.gpus - other.gpus,
    memory: one.memory - other.memory,
    unused: one.unused - other.unused,
    cpus: one.cpus - other.cpus,
    jobs: one.jobs - other.jobs,
  };
}
