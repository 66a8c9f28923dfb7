import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Disposable, Emitter } from '../../core/lifetime.ts';
import { CreditLedger, toCredits } from './credits.ts';
import { inTransaction, openDatabase } from './database.ts';
import type { LogEventData } from '../../remote/schemas.ts';
import { EventTable, type ServiceEvent, type StoredEvent } from './events.ts';
import { type Ending, JobTable, type NewJob, type StoredJob, type UnfinishedState } from './jobs.ts';

export interface CreditPolicy {
  /** Micro-credits of a new account. */
  readonly start: number;
  readonly isToppedUpDaily: boolean;
}

export type SubmitOutcome =
  | { readonly isAccepted: true; readonly available: number }
  | { readonly isAccepted: false; readonly available: number };

/** Jobs, their events and the credits, changed together: each method that writes is one durable transaction. */
export class Store implements Disposable {
  readonly #database: DatabaseSync;
  readonly #credits: CreditLedger;
  readonly #events: EventTable;
  readonly #policy: CreditPolicy;
  readonly #appended = new Emitter<string>();
  readonly jobs: Pick<JobTable, 'get' | 'unfinished' | 'nextQueued' | 'countUnfinished' | 'list'>;
  readonly #jobs: JobTable;
  /** Fires with the job's id after events were added. */
  readonly onDidAppend = this.#appended.event;

  /** @throws AppError of `openDatabase`, or `corrupt` when the credit ledger does not balance. */
  constructor(folder: string, policy: CreditPolicy) {
    this.#database = openDatabase(join(folder, 'service.db'));
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

  /** Micro-credits that can be spent now. */
  available(): number {
    if (this.#policy.isToppedUpDaily) {
      inTransaction(this.#database, () => this.#credits.topUp(this.#policy.start, Date.now()));
    }
    return this.#credits.available();
  }

  /** Adds the job and holds its credits, or does nothing when they do not suffice. */
  submit(job: NewJob, notes: readonly LogEventData[]): SubmitOutcome {
    const available = this.available();
    if (available < job.hold) return { isAccepted: false, available };
    this.#change(job.id, () => {
      this.#jobs.insert(job);
      this.#credits.hold(job.id, job.hold, job.createdAt);
      return [stateEvent('queued', job.createdAt), ...notes.map((data): ServiceEvent => ({ type: 'log', data }))];
    });
    return { isAccepted: true, available: this.#credits.available() };
  }

  setState(job: StoredJob, state: UnfinishedState, at: number, reason?: string): void {
    this.#change(job.id, () => {
      this.#jobs.setState(job.id, state, state === 'running' ? at : null, reason ?? null);
      return [stateEvent(state, at, reason)];
    });
  }

  /** Adds output together with how far the runner's log has been read, so that none is added twice or left out. */
  appendOutput(jobId: string, events: readonly ServiceEvent[], offset: number): void {
    this.#change(jobId, () => {
      this.#jobs.setLogOffset(jobId, offset);
      return events;
    });
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
      const subscription = this.onDidAppend(settle);
      signal.addEventListener('abort', settle);
    });
  }

  dispose(): void {
    this.#appended.dispose();
    this.#database.close();
  }

  #change(jobId: string, work: () => readonly ServiceEvent[]): void {
    inTransaction(this.#database, () => {
      const events = work();
      const number = this.#jobs.get(jobId)?.number;
      if (number !== undefined) this.#events.append(number, events);
    });
    this.#appended.fire(jobId);
  }
}

function stateEvent(state: StoredJob['state'], at: number, reason?: string): ServiceEvent {
  return {
    type: 'state',
    data: { state, at: new Date(at).toISOString(), ...(reason === undefined ? {} : { reason }) },
  };
}
