import type { Random } from '../../test/random.ts';
import type { Clock } from './clock.ts';
import type { Station } from './station.ts';

// As src/service/store/database/groupCommit.ts has it.
const PAUSE_PER_WAIT = 3;
const MAX_PAUSE_MS = 50;

export interface CommitCosts {
  /** How long a transaction takes to be durable. */
  readonly commitMs: number;
  /** Whether the event loop stands still for that long. */
  readonly blocks: boolean;
}

/** Transactions that changes of about the same time share, beside a stream of changes that are not simulated one by one. */
export class GroupCommit {
  readonly #clock: Clock;
  readonly #loop: Station;
  readonly #random: Random;
  readonly #costs: CommitCosts;
  #waiting: (() => void)[] = [];
  #notBefore = Number.NEGATIVE_INFINITY;
  #steadyPerSecond = 0;

  constructor(clock: Clock, loop: Station, random: Random, costs: CommitCosts) {
    this.#clock = clock;
    this.#loop = loop;
    this.#random = random;
    this.#costs = costs;
  }

  /** Calls back when a change is durable. */
  join(done: () => void): void {
    this.#waiting.push(done);
    if (this.#waiting.length > 1) return;
    const pause = Math.max(0, this.#notBefore - this.#clock.now);
    // The other changes make transactions too, after which there is a pause as well.
    const isPaused = pause === 0 && this.#random() < this.#steadyCommits * (this.#cycleMs / 1000);
    this.#clock.after(isPaused ? this.#random() * this.#cycleMs : pause, () => this.#commit());
  }

  /** Sets how many other changes arrive per second. Returns the share of the event loop that their transactions take. */
  setSteady(perSecond: number): number {
    this.#steadyPerSecond = perSecond;
    return this.#costs.blocks ? this.#steadyCommits * (this.#costs.commitMs / 1000) : 0;
  }

  /** Transactions in a second for the other changes: the first of them after a pause begins the next. */
  get #steadyCommits(): number {
    if (this.#steadyPerSecond === 0) return 0;
    return 1 / (this.#cycleMs / 1000 + 1 / this.#steadyPerSecond);
  }

  get #cycleMs(): number {
    const { commitMs } = this.#costs;
    return commitMs + Math.min(MAX_PAUSE_MS, PAUSE_PER_WAIT * commitMs);
  }

  #commit(): void {
    const done = this.#waiting;
    this.#waiting = [];
    const { commitMs, blocks } = this.#costs;
    const finish = (): void => {
      this.#notBefore = this.#clock.now + this.#cycleMs - commitMs;
      for (const call of done) call();
    };
    if (blocks) this.#loop.use(commitMs, finish);
    else this.#clock.after(commitMs, finish);
  }
}
