import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Disposable, Emitter } from '../../core/processes/lifetime.ts';
import { type Account, AccountTable } from './accounts/accounts.ts';
import { ApiKeyTable } from './accounts/apiKeys.ts';
import { AppendSignals } from './jobs/appendSignals.ts';
import { CreditBook } from './accounts/creditBook.ts';
import { type Balances, CreditLedger, type Grant, toCredits } from './accounts/credits.ts';
import { inTransaction, openDatabase } from './database/database.ts';
import type { LogEventData } from '../../remote/protocol/schemas.ts';
import { EventTable, type ServiceEvent, type StoredEvent } from './jobs/events.ts';
import { ExpiryTable } from './jobs/expiry.ts';
import { GroupCommit } from './database/groupCommit.ts';
import { type CreditPolicy, LocalCredits } from './accounts/localCredits.ts';
import { UsageTable } from './accounts/usage.ts';
import { type StoredSubmission, SubmissionTable } from './jobs/submissions.ts';
import type { UnfinishedState } from '../../remote/protocol/states.ts';
import { type Ending, JobTable, type NewJob, type StoredJob } from './jobs/jobs.ts';
import type { StoreChange } from './jobs/storeChange.ts';
import { StoreFile } from './database/storeFile.ts';
import { type KeptWorkspace, WorkspaceTable } from './jobs/workspaces.ts';

export type SubmitOutcome =
  | { readonly isAccepted: true; readonly available: number }
  | { readonly isAccepted: false; readonly available: number };

/**
 * Accounts, their keys and credits, jobs and their events, changed together: what a method writes is durable when it returns
 * or, where it gives a promise, when that is kept. Those with promises share transactions.
 */
export class Store implements Disposable {
  readonly #database: DatabaseSync;
  readonly #credits: CreditLedger;
  readonly #events: EventTable;
  readonly #localCredits: LocalCredits | undefined;
  readonly #commits: GroupCommit;
  readonly #changed = new Emitter<StoreChange>();
  /** Fires after a change is durable. */
  readonly onDidChange = this.#changed.event;
  readonly #appended = new AppendSignals();
  readonly jobs: Pick<
    JobTable,
    'get' | 'find' | 'unfinished' | 'countUnfinished' | 'countByState' | 'queuesAtLeast' | 'countOf' | 'list'
  >;
  readonly accounts: Pick<AccountTable, 'find' | 'get' | 'list' | 'countEnabled' | 'setDisabled' | 'setLimits'>;
  readonly keys: ApiKeyTable;
  readonly expiry: ExpiryTable;
  readonly file: StoreFile;
  readonly usage: UsageTable;
  readonly creditBook: CreditBook;
  /** Of jobs that have not begun. */
  readonly workspaces: Pick<WorkspaceTable, 'get' | 'setBoot'>;
  readonly submissions: SubmissionTable;
  readonly #accounts: AccountTable;
  readonly #jobs: JobTable;
  readonly #workspaces: WorkspaceTable;

  /**
   * @param policy left out by whoever opens the store without serving from it.
   * @throws AppError of `openDatabase`, or `corrupt` when the credit ledger does not balance.
   */
  constructor(folder: string, policy?: CreditPolicy) {
    this.#database = openDatabase(join(folder, 'service.db'));
    this.#commits = new GroupCommit(this.#database);
    try {
      this.#credits = new CreditLedger(this.#database);
      this.#localCredits = policy && new LocalCredits(this.#credits, policy);
      this.#events = new EventTable(this.#database);
      this.#jobs = new JobTable(this.#database);
      this.jobs = this.#jobs;
      this.#workspaces = new WorkspaceTable(this.#database);
      this.workspaces = this.#workspaces;
      this.#accounts = new AccountTable(this.#database);
      this.accounts = this.#accounts;
      this.submissions = new SubmissionTable(this.#database);
      this.keys = new ApiKeyTable(this.#database);
      this.creditBook = new CreditBook(this.#database);
      this.usage = new UsageTable(this.#database);
      this.expiry = new ExpiryTable(this.#database);
      this.file = new StoreFile(this.#database);
      this.#credits.check();
      inTransaction(this.#database, () => this.#localCredits?.grantStart(Date.now()));
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Calls `listener` with the id of the last event after events of the job were added, until the result is disposed. */
  onDidAppend(jobId: string, listener: (last: number) => void): Disposable {
    return this.#appended.on(jobId, listener);
  }

  /** Micro-credits of an account that can be spent now. @throws AppError `missing` when there is no such account. */
  available(account: string): number {
    return this.balances(account).available;
  }

  /** @throws AppError `missing` when there is no such account. */
  balances(account: string): Balances {
    const { id } = this.#accounts.get(account);
    const local = this.#localCredits;
    if (local?.isToppedUp(id) === true) inTransaction(this.#database, () => local.topUp(id, Date.now()));
    return this.#credits.balances(id);
  }

  /** Adds an account, with nothing in it. @throws AppError `bad-input` or `conflict` as the table says. */
  addAccount(account: Pick<Account, 'id' | 'name' | 'plan' | 'createdAt'>): Account {
    return inTransaction(this.#database, () => {
      const added = this.#accounts.add(account);
      this.#credits.open(added.id);
      return added;
    });
  }

  /** Gives or takes credits, once for each reference. Throws, and gives false, as `CreditLedger.grant` does. */
  grant(account: string, grant: Grant): boolean {
    return inTransaction(this.#database, () => this.#credits.grant(this.#accounts.get(account).id, grant));
  }

  /**
   * Adds the job and holds its credits, or does nothing when they do not suffice.
   *
   * @param key under which the same submission will be known, and what tells it apart from another one under that key.
   */
  async submit(
    job: NewJob,
    notes: readonly LogEventData[],
    workspace: KeptWorkspace,
    key?: Pick<StoredSubmission, 'key' | 'fingerprint'>,
  ): Promise<SubmitOutcome> {
    const outcome = await this.#commits.run((): SubmitOutcome => {
      this.#localCredits?.topUp(job.account, job.createdAt);
      const available = this.#credits.available(job.account);
      if (available < job.hold) return { isAccepted: false, available };
      this.#workspaces.insert(this.#jobs.insert(job), workspace);
      this.#credits.hold(job.account, job.id, job.hold, job.createdAt);
      const logs = notes.map((data): ServiceEvent => ({ type: 'log', data }));
      this.#appendEvents(job.id, [stateEvent('queued', job.createdAt), ...logs]);
      const left = this.#credits.available(job.account);
      const { id: jobId, account, createdAt } = job;
      if (key !== undefined) {
        this.submissions.insert({ ...key, account, jobId, createdAt, creditsRemaining: left });
      }
      return { isAccepted: true, available: left };
    });
    if (!outcome.isAccepted) return outcome;
    // Nobody can read a job's events before its id is known.
    this.#changed.fire({ type: 'events', count: 1 + notes.length });
    this.#changed.fire({ type: 'submitted', job });
    return outcome;
  }

  setState(job: StoredJob, state: UnfinishedState, at: number, reason?: string): void {
    this.#change(job.id, () => {
      this.#jobs.setState(job.id, state, state === 'running' ? at : null, reason ?? null);
      if (state === 'running') this.#workspaces.remove(job.number);
      return [stateEvent(state, at, reason)];
    });
    if (state === 'running') this.#changed.fire({ type: 'started', job, at });
  }

  /** Adds output together with how far the runner's log has been read, so that none is added twice or left out. */
  async appendOutput(jobId: string, events: readonly ServiceEvent[], offset: number): Promise<void> {
    const last = await this.#commits.run(() => {
      this.#jobs.setLogOffset(jobId, offset);
      return this.#appendEvents(jobId, events);
    });
    this.#fire(jobId, last, events.length);
  }

  /** Ends the job: its state, its last events and the settlement of its credits. Ends nothing twice. */
  finish(job: StoredJob, ending: Ending, lastEvents: readonly ServiceEvent[]): void {
    if (this.#jobs.get(job.id)?.finishedAt !== null) return;
    const { state, finishedAt, exitCode, reason, charged } = ending;
    this.#change(job.id, () => {
      this.#jobs.finish(job.id, ending);
      this.#workspaces.remove(job.number);
      this.#credits.settle(job, charged, finishedAt);
      return [
        ...lastEvents,
        stateEvent(state, finishedAt, reason ?? undefined),
        { type: 'end', data: { state, exit_code: exitCode, credits_charged: toCredits(charged) } },
      ];
    });
    this.#changed.fire({ type: 'ended', job, ending });
  }

  /** The next events of a job after `after`, until they hold `enough` characters. */
  events(job: Pick<StoredJob, 'number'>, after: number, enough: number): readonly StoredEvent[] {
    return this.#events.page(job.number, after, enough);
  }

  /** The id of a job's last event. */
  lastEvent({ number }: Pick<StoredJob, 'number'>): number {
    return this.#events.last(number);
  }

  /** Waits until the job has ended or the signal aborts. */
  untilFinished(jobId: string, signal: AbortSignal): Promise<void> {
    return this.#appended.until(jobId, () => this.#jobs.get(jobId)?.finishedAt !== null, signal);
  }

  /** Makes durable what waits for it, and closes the store. */
  dispose(): void {
    this.#commits.flush();
    this.#appended.dispose();
    this.#changed.dispose();
    this.#database.close();
  }

  #change(jobId: string, work: () => readonly ServiceEvent[]): void {
    const { last, count } = inTransaction(this.#database, () => {
      const events = work();
      return { last: this.#appendEvents(jobId, events), count: events.length };
    });
    this.#fire(jobId, last, count);
  }

  /** Gives the id of the job's last event then. */
  #appendEvents(jobId: string, events: readonly ServiceEvent[]): number {
    const number = this.#jobs.numberOf(jobId);
    return number === undefined ? 0 : this.#events.append(number, events);
  }

  #fire(jobId: string, last: number, count: number): void {
    this.#appended.fire(jobId, last);
    this.#changed.fire({ type: 'events', count });
  }
}

function stateEvent(state: StoredJob['state'], at: number, reason?: string): ServiceEvent {
  return {
    type: 'state',
    data: { state, at: new Date(at).toISOString(), ...(reason === undefined ? {} : { reason }) },
  };
}
