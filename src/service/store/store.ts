import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Disposable, Emitter } from '../../core/lifetime.ts';
import { CreditLedger, toCredits } from './credits.ts';
import { inTransaction, openDatabase } from './database.ts';
import type { LogEventData } from '../../remote/schemas.ts';
import { EventTable, type ServiceEvent, type StoredEvent } from './events.ts';
import { GroupCommit } from './groupCommit.ts';
import { type Ending, JobTable, type NewJob, type StoredJob, type UnfinishedState } from './jobs.ts';

export interface CreditPolicy {
  /** Micro-credits of a new account. */
  readonly start: number;
  readonly isToppedUpDaily: boolean;
}

export type SubmitOutcome =
  | { readonly isAccepted: true; readonly available: number }
  | { readonly isAccepted: false; readonly available: number };

/**
 * Jobs, their events and the credits, changed together: what a method writes is durable when it returns or, where it gives
 * a promise, when that is kept. Those with promises share transactions.
 */
export class Store implements Disposable {
  readonly #database: DatabaseSync;
  readonly #credits: CreditLedger;
  readonly #events: EventTable;
  readonly #policy: CreditPolicy;
  readonly #commits: GroupCommit;
  /** By job, so that a job's events wake nobody but its own readers. */
  readonly #appended = new Map<string, Emitter<void>>();
  readonly jobs: Pick<JobTable, 'get' | 'unfinished' | 'nextQueued' | 'countUnfinished' | 'list'>;
  readonly #jobs: JobTable;

  /** @throws AppError of `openDatabase`, or `corrupt` when the credit ledger does not balance. */
  constructor(folder: string, policy: CreditPolicy) {
    this.#database = openDatabase(join(folder, 'service.db'));
    this.#commits = new GroupCommit(this.#database);
    try {
      this.#policy = policy;
      this.#credits = new CreditLedger(this.#database);
      this.#events = new EventTable(this.#database);
      this.#jobs = new JobTable(this.#database);
      this.jobs = this.#jobs;
      this.#credits.check();
      if (!policy.isToppedUpDaily) inTransaction(this.#database, () => this.#credits.grant(policy.start, Date.now()));
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Calls `listener` after events of the job were added, until the result is disposed. */
  onDidAppend(jobId: string, listener: () => void): Disposable {
    const emitter = this.#appended.get(jobId) ?? new Emitter<void>();
    this.#appended.set(jobId, emitter);
    const subscription = emitter.event(listener);
    return {
      dispose: () => {
        subscription.dispose();
        if (emitter.isEmpty && this.#appended.get(jobId) === emitter) this.#appended.delete(jobId);
      },
    };
  }

  /** Micro-credits that can be spent now. */
  available(): number {
    return this.#policy.isToppedUpDaily
      ? inTransaction(this.#database, () => this.#toppedUp())
      : this.#credits.available();
  }

  /** Adds the job and holds its credits, or does nothing when they do not suffice. */
  async submit(job: NewJob, notes: readonly LogEventData[]): Promise<SubmitOutcome> {
    const outcome = await this.#commits.run((): SubmitOutcome => {
      const available = this.#toppedUp();
      if (available < job.hold) return { isAccepted: false, available };
      this.#jobs.insert(job);
      this.#credits.hold(job.id, job.hold, job.createdAt);
      const logs = notes.map((data): ServiceEvent => ({ type: 'log', data }));
      this.#appendEvents(job.id, [stateEvent('queued', job.createdAt), ...logs]);
      return { isAccepted: true, available: this.#credits.available() };
    });
    this.#fire(job.id);
    return outcome;
  }

  setState(job: StoredJob, state: UnfinishedState, at: number, reason?: string): void {
    this.#change(job.id, () => {
      this.#jobs.setState(job.id, state, state === 'running' ? at : null, reason ?? null);
      return [stateEvent(state, at, reason)];
    });
  }

  /** Adds output together with how far the runner's log has been read, so that none is added twice or left out. */
  async appendOutput(jobId: string, events: readonly ServiceEvent[], offset: number): Promise<void> {
    await this.#commits.run(() => {
      this.#jobs.setLogOffset(jobId, offset);
      this.#appendEvents(jobId, events);
    });
    this.#fire(jobId);
  }

  /** Ends the job: its state, its last events and the settlement of its credits. Ends nothing twice. */
  finish(job: StoredJob, ending: Ending, lastEvents: readonly ServiceEvent[]): void {
    if (this.#jobs.get(job.id)?.finishedAt !== null) return;
    const { state, finishedAt, exitCode, reason, charged } = ending;
    this.#change(job.id, () => {
      this.#jobs.finish(job.id, ending);
      this.#credits.settle(job.id, job.hold, charged, finishedAt);
      return [
        ...lastEvents,
        stateEvent(state, finishedAt, reason ?? undefined),
        { type: 'end', data: { state, exit_code: exitCode, credits_charged: toCredits(charged) } },
      ];
    });
  }

  events(job: StoredJob, after: number, limit: number): readonly StoredEvent[] {
    return this.#events.page(job.number, after, limit);
  }

  /** Waits until the job has ended or the signal aborts. */
  untilFinished(jobId: string, signal: AbortSignal): Promise<void> {
    const isDone = (): boolean => signal.aborted || this.#jobs.get(jobId)?.finishedAt !== null;
    if (isDone()) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        if (!isDone()) return;
        subscription.dispose();
        signal.removeEventListener('abort', settle);
        resolve();
      };
      const subscription = this.onDidAppend(jobId, settle);
      signal.addEventListener('abort', settle);
    });
  }

  /** Makes durable what waits for it, and closes the store. */
  dispose(): void {
    this.#commits.flush();
    this.#appended.clear();
    this.#database.close();
  }

  #change(jobId: string, work: () => readonly ServiceEvent[]): void {
    inTransaction(this.#database, () => this.#appendEvents(jobId, work()));
    this.#fire(jobId);
  }

  #appendEvents(jobId: string, events: readonly ServiceEvent[]): void {
    const number = this.#jobs.get(jobId)?.number;
    if (number !== undefined) this.#events.append(number, events);
  }

  #fire(jobId: string): void {
    this.#appended.get(jobId)?.fire();
  }

  #toppedUp(): number {
    if (this.#policy.isToppedUpDaily) this.#credits.topUp(this.#policy.start, Date.now());
    return this.#credits.available();
  }
}

function stateEvent(state: StoredJob['state'], at: number, reason?: string): ServiceEvent {
  return {
    type: 'state',
    data: { state, at: new Date(at).toISOString(), ...(reason === undefined ? {} : { reason }) },
  };
}
