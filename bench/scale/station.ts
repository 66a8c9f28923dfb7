import type { Clock } from './clock.ts';

const HOUR_MS = 3_600_000;
// However much it is, something is left for the rest.
const MOST_STEADY = 0.95;

/** Sums of each hour of a simulated day. What comes before the day or after it is not counted. */
export class HourlySums {
  readonly hours = new Float64Array(24);

  add(at: number, amount: number): void {
    const hour = Math.floor(at / HOUR_MS);
    if (hour >= 0 && hour < 24) this.hours[hour] = (this.hours[hour] ?? 0) + amount;
  }

  get highest(): number {
    return Math.max(...this.hours);
  }
}

interface Piece {
  readonly work: number;
  readonly done: () => void;
  readonly onStart: (() => void) | undefined;
}

/**
 * Servers with one queue, served in the order of arrival: a processor with its cores, or a cluster with its slots.
 * Besides what queues it can have a steady share of other work, in pieces too small to be events of their own, which slows it.
 */
export class Station {
  readonly #clock: Clock;
  readonly #servers: number;
  readonly #busyMs = new HourlySums();
  // Taken from its front by an index: the array's own way takes as long as it is.
  #queue: Piece[] = [];
  #first = 0;
  #busy = 0;
  #steady = 0;
  #steadySince = 0;

  constructor(clock: Clock, servers = 1) {
    this.#clock = clock;
    this.#servers = servers;
  }

  get busy(): number {
    return this.#busy;
  }

  get queued(): number {
    return this.#queue.length - this.#first;
  }

  /** Does `work` milliseconds of work as soon as a server is free, and calls back when that has started and when it is done. */
  use(work: number, done: () => void, onStart?: () => void): void {
    const piece = { work, done, onStart };
    if (this.#busy < this.#servers) this.#begin(piece);
    else this.#queue.push(piece);
  }

  /** From now on a share of the servers, from 0 to 1, does other work. */
  setSteady(share: number): void {
    const now = this.#clock.now;
    this.#busyMs.add((now + this.#steadySince) / 2, (now - this.#steadySince) * this.#steady * this.#servers);
    this.#steady = share;
    this.#steadySince = now;
  }

  /** The part of its time, from 0 to 1, that it had work for in the hour of the day with the most. */
  get highestShare(): number {
    this.setSteady(this.#steady);
    return this.#busyMs.highest / HOUR_MS / this.#servers;
  }

  #begin({ work, done, onStart }: Piece): void {
    this.#busy += 1;
    onStart?.();
    // The steady work comes between: a piece takes as long as if the server were slower.
    const length = work / (1 - Math.min(MOST_STEADY, this.#steady));
    this.#busyMs.add(this.#clock.now, work);
    this.#clock.after(length, () => {
      this.#busy -= 1;
      const next = this.#queue[this.#first];
      if (next !== undefined) {
        this.#first += 1;
        if (this.#first > 1024 && this.#first * 2 > this.#queue.length) {
          this.#queue = this.#queue.slice(this.#first);
          this.#first = 0;
        }
        this.#begin(next);
      }
      done();
    });
  }
}
