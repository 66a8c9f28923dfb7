import type { Random } from '../../test/random.ts';
import { SITE } from './assumptions.ts';
import type { Clock } from './clock.ts';
import { dailyCycle, exponential } from './distributions.ts';

const DAY_MS = 24 * 3_600_000;
const SLOT_MS = DAY_MS / 48;

/** Sends a job, of a sweep or a single one, and calls back when it is accepted. */
export type Send = (isOfSweep: boolean, answered: () => void) => void;

/** Those who send jobs: one at a time, or hundreds in a row; more of them by day than by night. */
export class Users {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #load: number;
  readonly #send: Send;
  readonly #cycle = dailyCycle();
  readonly #peak = Math.max(...this.#cycle);

  constructor(clock: Clock, random: Random, { load, send }: { readonly load: number; readonly send: Send }) {
    this.#clock = clock;
    this.#random = random;
    this.#load = load;
    this.#send = send;
  }

  start(): void {
    this.#arrive(SITE.sweepShare / SITE.sweepJobs, () => this.#sweep());
    this.#arrive(1 - SITE.sweepShare, () => this.#send(false, () => {}));
  }

  /** How many are there, from 0 to 1 when most are. */
  presence(time: number): number {
    return this.#at(time) / this.#peak;
  }

  /** Jobs that come in a millisecond, on average. */
  rate(time: number): number {
    return (this.#at(time) * SITE.jobsPerDay * this.#load) / SLOT_MS;
  }

  /** Calls for a share of the day's jobs, as often as the time of day has it. */
  #arrive(share: number, call: () => void): void {
    const shortestMs = SLOT_MS / (SITE.jobsPerDay * this.#load * share * this.#peak);
    const next = (): void => {
      this.#clock.after(exponential(shortestMs, this.#random), next);
      if (this.#random() < this.presence(this.#clock.now)) call();
    };
    next();
  }

  #sweep(): void {
    let left = SITE.sweepJobs;
    const sendOn = (): void => {
      if (left-- > 0) this.#send(true, () => this.#clock.after(SITE.sweepPauseMs, sendOn));
    };
    for (let connection = 0; connection < SITE.sweepConnections; connection += 1) sendOn();
  }

  /** The part of a day's jobs that comes in the half hour of a time. */
  #at(time: number): number {
    return this.#cycle[Math.floor((time + DAY_MS) / SLOT_MS) % this.#cycle.length] ?? 0;
  }
}
