import type { StoredJob } from '../store/jobs/jobTable.ts';

/** How many jobs of an account may be at work at once, given how many of each account are. */
export type MostAtWork = (account: string, atWork: (account: string) => number) => number;
type WaitingJob = Pick<StoredJob, 'id' | 'account'>;

/**
 * The queued jobs, and how many jobs each account has at work.
 *
 * The next slot goes to the account with the fewest jobs at work, then to the one that has waited longest; within an account, jobs keep
 * their order. So a thousand jobs of one account delay another account by one job, not by a thousand. The queue contains only IDs, in
 * memory: the store is authoritative.
 */
export class JobQueue {
  readonly #waiting = new Map<string, string[]>();
  readonly #atWork = new Map<string, number>();
  readonly #lastTurn = new Map<string, number>();
  #turns = 0;

  add({ id, account }: WaitingJob): void {
    const waiting = this.#waiting.get(account);
    if (waiting === undefined) this.#waiting.set(account, [id]);
    else waiting.push(id);
  }

  /** Replaces the queued jobs. */
  refill(jobs: Iterable<WaitingJob>): void {
    this.#waiting.clear();
    for (const job of jobs) this.add(job);
  }

  /** Removes a job that will not start. */
  remove({ id, account }: WaitingJob): void {
    const waiting = this.#waiting.get(account)?.filter((other) => other !== id) ?? [];
    if (waiting.length > 0) this.#waiting.set(account, waiting);
    else this.#waiting.delete(account);
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
    let chosen: string | undefined;
    const atWork = (other: string): number => this.atWork(other);
    for (const account of this.#waiting.keys()) {
      if (this.atWork(account) < most(account, atWork) && (chosen === undefined || this.#isBefore(account, chosen))) {
        chosen = account;
      }
    }
    if (chosen === undefined) return undefined;
    const waiting = this.#waiting.get(chosen) ?? [];
    const id = waiting.shift();
    if (waiting.length === 0) this.#waiting.delete(chosen);
    this.#lastTurn.set(chosen, ++this.#turns);
    return id;
  }

  #isBefore(account: string, other: string): boolean {
    const byWork = this.atWork(account) - this.atWork(other);
    return byWork < 0 || (byWork === 0 && this.#turnOf(account) < this.#turnOf(other));
  }

  #turnOf(account: string): number {
    return this.#lastTurn.get(account) ?? 0;
  }
}
