import type { QueuedJob, QueueVerdict } from '../executor/executor.ts';

/** How many jobs of an account may be at work at once, given how many of each account are. */
export type MostAtWork = (account: string, atWork: (account: string) => number) => number;

/**
 * The queued jobs, and how many jobs each account has at work.
 *
 * The next slot goes to the account with the fewest jobs at work, then to the one that has waited longest; within an account, jobs keep
 * their order. So a thousand jobs of one account delay another account by one job, not by a thousand. A job for which the machine is kept
 * stays the next one until it starts: the jobs of others must not overtake it again and again. The queue is in memory: the store is
 * authoritative.
 */
export class JobQueue {
  readonly #waiting = new Map<string, QueuedJob[]>();
  readonly #atWork = new Map<string, number>();
  readonly #lastTurn = new Map<string, number>();
  #turns = 0;
  #first: QueuedJob | undefined;

  add(job: QueuedJob): void {
    const waiting = this.#waiting.get(job.account);
    if (waiting === undefined) this.#waiting.set(job.account, [job]);
    else waiting.push(job);
  }

  /** Replaces the queued jobs. */
  refill(jobs: Iterable<QueuedJob>): void {
    this.#waiting.clear();
    this.#first = undefined;
    for (const job of jobs) this.add(job);
  }

  /** Removes a job that will not start. @returns whether the machine was kept for it. */
  remove({ id, account }: Pick<QueuedJob, 'id' | 'account'>): boolean {
    const waiting = this.#waiting.get(account) ?? [];
    const index = waiting.findIndex((other) => other.id === id);
    if (index >= 0) waiting.splice(index, 1);
    if (waiting.length === 0) this.#waiting.delete(account);
    const wasFirst = this.#first?.id === id;
    if (wasFirst) this.#first = undefined;
    return wasFirst;
  }

  /** Removes a job that starts, which is a turn of its account. */
  start(job: QueuedJob): void {
    this.remove(job);
    this.#lastTurn.set(job.account, ++this.#turns);
  }

  /** Makes a job the next one until it starts. */
  keepFirst(job: QueuedJob | undefined): void {
    this.#first = job;
  }

  /** Counts a job as at work until `release`. */
  noteAtWork(account: string): void {
    this.#atWork.set(account, this.atWork(account) + 1);
  }

  release(account: string): void {
    const left = this.atWork(account) - 1;
    if (left > 0) this.#atWork.set(account, left);
    else this.#atWork.delete(account);
  }

  atWork(account: string): number {
    return this.#atWork.get(account) ?? 0;
  }

  /**
   * Removes and returns the next job; undefined if none may start.
   *
   * @param most returns how many jobs of an account may be at work at once, which may depend on how many of others are.
   */
  take(most: MostAtWork): string | undefined {
    const { value } = this.order(most).next();
    if (value === undefined) return undefined;
    this.start(value);
    return value.id;
  }

  /** The jobs that may start, in their order if those start that the verdicts say. Changes nothing. @param most as for `take`. */
  *order(most: MostAtWork): Generator<QueuedJob, void, QueueVerdict> {
    const more = new Map<string, number>();
    const turns = new Map(this.#lastTurn);
    let turn = this.#turns;
    const atWork = (account: string): number => this.atWork(account) + (more.get(account) ?? 0);
    const mayStart = (account: string): boolean => atWork(account) < most(account, atWork);
    /** A job that the machine is kept for counts too: it takes the place of its account when it starts. */
    const count = (account: string, verdict: QueueVerdict): boolean => {
      if (verdict !== 'waits') more.set(account, (more.get(account) ?? 0) + 1);
      if (verdict === 'starts') turns.set(account, ++turn);
      return verdict !== 'waits';
    };
    const first = this.#first;
    if (first !== undefined && mayStart(first.account)) count(first.account, yield first);
    const isBefore = (one: string, other: string): boolean => {
      const byWork = atWork(one) - atWork(other);
      return byWork < 0 || (byWork === 0 && (turns.get(one) ?? 0) <= (turns.get(other) ?? 0));
    };
    const accounts = [...this.#waiting].map(([account, jobs]) => ({ account, jobs, at: 0 }));
    const byOrder = accounts.toSorted((one, other) => {
      if (!isBefore(one.account, other.account)) return 1;
      return isBefore(other.account, one.account) ? 0 : -1;
    });
    for (let next = byOrder.shift(); next !== undefined; next = byOrder.shift()) {
      const { account, jobs } = next;
      if (!mayStart(account)) continue;
      // While its jobs wait, it is still the account whose turn it is.
      let isCounted = false;
      while (!isCounted && next.at < jobs.length) {
        const job = jobs[next.at++];
        if (job !== undefined && job.id !== first?.id) isCounted = count(account, yield job);
      }
      if (!isCounted) continue;
      const place = byOrder.findIndex((other) => !isBefore(other.account, account));
      byOrder.splice(place < 0 ? byOrder.length : place, 0, next);
    }
  }
}
