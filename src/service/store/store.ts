import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Disposable, Emitter, untilTrue } from '../../core/processes/lifetime.ts';
import { type StoredAccount, ACCOUNT_COLUMNS, AccountTable, type NewAccount } from './accounts/accountTable.ts';
import { ApiKeyTable, KEY_COLUMNS } from './accounts/apiKeys.ts';
import { AUDIT_TABLE, AuditTable } from './accounts/auditTable.ts';
import { BUDGET_TABLE, BudgetTable, type Spendable, type SubmitOutcome } from './accounts/budgetTable.ts';
import { KEY_BUDGET_INDEX, KeyBudgets, type Spender } from './accounts/keyBudgets.ts';
import { type Balances, CreditBook, CreditLedger, type Grant, toCredits } from './accounts/creditLedger.ts';
import { inTransaction, openDatabase } from './database/database.ts';
import { DRAIN_TABLE, DrainRecord } from './jobs/drainRecord.ts';
import type { LogEventData } from '../../remote/protocol/schemas.ts';
import { AppendSignals, endEvent, EventTable, type ServiceEvent, serviceLine, stateEvent } from './jobs/eventTable.ts';
import { ExpiryTable } from './jobs/expiry.ts';
import { GroupCommit } from './database/groupCommit.ts';
import { IDENTITY_TABLE, IdentityTable } from './accounts/identities.ts';
import { SECRET_COLUMNS, SECRET_TABLE, SecretTable } from './accounts/secretTable.ts';
import { UsageTable } from './accounts/usageTable.ts';
import { type StoredSubmission, SubmissionTable } from './jobs/submissionTable.ts';
import type { UnfinishedState } from '../../remote/protocol/states.ts';
import {
  type Ending,
  explainedByOrder,
  JOB_COLUMNS,
  JobTable,
  type NewJob,
  type StoreChange,
  type StoredJob,
  UnfinishedJobs,
} from './jobs/jobTable.ts';
import { JobSearch } from './jobs/jobSearch.ts';
import { RETENTION_TABLE, RetentionRecord } from './jobs/retentionRecord.ts';
import { RESERVE_TABLE, StoreReserve } from './database/storeReserve.ts';
import { StoreFile } from './database/storeFile.ts';
import { type KeptWorkspace, UNWRITTEN, WorkspaceTable } from './jobs/workspaces.ts';
import { addMissingColumns } from './database/sqlStatements.ts';

/**
 * Accounts, their keys and credits, jobs and their events, changed together. What a method writes is durable when it returns or,
 * if it returns a promise, when that resolves. Those with promises share transactions.
 */
export class Store implements Disposable {
  readonly #database: DatabaseSync;
  readonly #credits: CreditLedger;
  readonly #commits: GroupCommit;
  readonly #changed = new Emitter<StoreChange>();
  /** Fires after a change is durable. */
  readonly onDidChange = this.#changed.event;
  readonly #appended = new AppendSignals();
  readonly jobs: Omit<
    JobTable,
    'insert' | 'finish' | 'setState' | 'setLogOffset' | 'noteFreeze' | 'extendHold' | 'countUnfinished'
  >;
  readonly jobSearch: JobSearch;
  readonly unfinished: UnfinishedJobs;
  readonly accounts: Omit<AccountTable, 'add'>;
  readonly budgets: BudgetTable;
  readonly keyBudgets: KeyBudgets;
  readonly keys: ApiKeyTable;
  readonly identities: IdentityTable;
  readonly expiry: ExpiryTable;
  readonly secrets: SecretTable;
  readonly retention: RetentionRecord;
  readonly drain: DrainRecord;
  readonly audit: AuditTable;
  readonly file: StoreFile;
  readonly reserve: StoreReserve;
  readonly usage: UsageTable;
  readonly creditBook: CreditBook;
  /** Of jobs that have not begun. */
  readonly workspaces: Pick<WorkspaceTable, 'get' | 'setBoot'>;
  readonly submissions: SubmissionTable;
  readonly events: Pick<EventTable, 'page' | 'pageBefore' | 'last' | 'usage'>;
  readonly #events: EventTable;
  readonly #accounts: AccountTable;
  readonly #jobs: JobTable;
  readonly #workspaces: WorkspaceTable;

  /**
   * @param startCredits the first micro-credits of the account `local`; omitted if the store is opened without a service.
   * @throws AppError of `openDatabase`, or `corrupt` if the credit ledger does not balance.
   */
  constructor(folder: string, startCredits?: number) {
    this.#database = openDatabase(join(folder, 'service.db'), declareTables);
    this.#commits = new GroupCommit(this.#database);
    try {
      this.#credits = new CreditLedger(this.#database);
      this.#events = new EventTable(this.#database);
      this.events = this.#events;
      this.#jobs = new JobTable(this.#database);
      this.jobs = this.#jobs;
      this.unfinished = new UnfinishedJobs(this.#jobs, this.#changed);
      this.jobSearch = new JobSearch(this.#database);
      this.#workspaces = new WorkspaceTable(this.#database);
      this.workspaces = this.#workspaces;
      this.#accounts = new AccountTable(this.#database);
      this.accounts = this.#accounts;
      this.submissions = new SubmissionTable(this.#database);
      this.keys = new ApiKeyTable(this.#database);
      this.identities = new IdentityTable(this.#database);
      this.creditBook = new CreditBook(this.#database);
      this.usage = new UsageTable(this.#database);
      this.budgets = new BudgetTable(this.#database);
      this.keyBudgets = new KeyBudgets(this.#database, this.budgets);
      this.expiry = new ExpiryTable(this.#database);
      this.secrets = new SecretTable(this.#database);
      this.retention = new RetentionRecord(this.#database);
      this.drain = new DrainRecord(this.#database);
      this.audit = new AuditTable(this.#database);
      this.file = new StoreFile(this.#database);
      this.reserve = new StoreReserve(this.#database);
      this.#credits.check();
      this.keyBudgets.check();
      if (startCredits !== undefined)
        inTransaction(this.#database, () => this.#credits.grantStart(startCredits, Date.now()));
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Calls `listener` with the ID of the job's last event whenever some were added, until the result is disposed. */
  onDidAppend(jobId: string, listener: (last: number) => void): Disposable {
    return this.#appended.on(jobId, listener);
  }

  /** @throws AppError `missing` if the account does not exist. */
  balances(account: string): Balances {
    const { id } = this.#accounts.get(account);
    return this.#credits.balances(id);
  }

  /** What an account, or one of its keys, can spend now. @throws as `balances`. */
  spendable(account: string, spender: Omit<Spender, 'group'>): Spendable {
    const { available } = this.balances(account);
    return this.keyBudgets.spendable(available, { ...spender, group: this.#accounts.get(account).group });
  }

  /** Adds an account without credits. @throws AppError `bad-input` or `conflict` of `AccountTable.add`. */
  addAccount(account: NewAccount): StoredAccount {
    return inTransaction(this.#database, () => {
      const added = this.#accounts.add(account);
      this.#credits.open(added.id);
      return added;
    });
  }

  /** Grants or takes back credits, once per reference. Throws and returns false like `CreditLedger.grant`. */
  grant(account: string, grant: Grant): boolean {
    return inTransaction(this.#database, () => this.#credits.grant(this.#accounts.get(account).id, grant));
  }

  /**
   * Adds the job and holds its credits. Does nothing if the account's credits, or what its key, group or project can still spend, are not
   * sufficient.
   *
   * @param key the submission's idempotency key and fingerprint.
   */
  async submit(
    job: NewJob,
    notes: readonly LogEventData[],
    workspace: KeptWorkspace,
    key?: Pick<StoredSubmission, 'key' | 'fingerprint'>,
  ): Promise<SubmitOutcome> {
    const outcome = await this.#commits.run((): SubmitOutcome => {
      const { group } = this.#accounts.get(job.account);
      const spendable = (by: Spender) =>
        this.keyBudgets.spendable(this.#credits.available(job.account), { ...by, group });
      const available = spendable(job);
      if (available.amount < job.hold) return { isAccepted: false, available };
      this.#workspaces.insert(this.#jobs.insert({ ...job, group }), workspace);
      this.#credits.hold(job.account, job.id, job.hold, job.createdAt);
      this.budgets.charge({ ...job, group }, job.hold);
      const logs = notes.map((data): ServiceEvent => ({ type: 'log', data }));
      this.#appendEvents(job.id, [stateEvent('queued', job.createdAt), ...logs]);
      const left = spendable({ keyId: job.keyId });
      const submitted = { account: job.account, jobId: job.id, createdAt: job.createdAt };
      if (key !== undefined) this.submissions.insert({ ...key, ...submitted, creditsRemaining: left.amount });
      return { isAccepted: true, available: left };
    });
    if (!outcome.isAccepted) return outcome;
    // Nobody reads the job's events yet, because its ID was not returned.
    this.#changed.fire({ type: 'events', count: 1 + notes.length });
    this.#changed.fire({ type: 'submitted', job });
    return outcome;
  }

  setState(job: StoredJob, state: UnfinishedState, at: number, reason?: string): void {
    this.#change(job.id, () => {
      this.#jobs.setState(job.id, state, state === 'running' ? at : null, reason ?? null);
      return [stateEvent(state, at, reason)];
    });
    if (state === 'running') this.#changed.fire({ type: 'started', job, at });
  }

  /** Removes how to write the workspace of a job that has started and will not start again. */
  removeWorkspace(job: StoredJob): void {
    inTransaction(this.#database, () => this.#workspaces.remove(job.number));
  }

  /** Puts a job that has started back into the queue, as one that has not. What it printed stays in its log, above `note`. */
  requeue(job: StoredJob, reason: string, note: string): void {
    this.#change(job.id, () => {
      this.#jobs.setState(job.id, 'queued', null, reason);
      this.#jobs.setLogOffset(job.id, 0);
      this.#workspaces.setBoot(job.number, UNWRITTEN);
      return [{ type: 'log', data: serviceLine(note) }, stateEvent('queued', Date.now(), reason)];
    });
  }

  /** Adds output together with the position in the runner's log, so that none is added twice or left out. */
  async appendOutput(jobId: string, events: readonly ServiceEvent[], offset: number): Promise<void> {
    const last = await this.#commits.run(() => {
      this.#jobs.setLogOffset(jobId, offset);
      for (const { type, data } of events) if (type === 'freeze') this.#jobs.noteFreeze(jobId, data);
      return this.#appendEvents(jobId, events);
    });
    this.#fire(jobId, last, events.length);
  }

  /**
   * Lets a job be frozen for longer, and holds the credits for that.
   *
   * @param hold micro-credits for all of the job.
   * @returns what can be spent, if that is not sufficient, and nothing has changed then.
   */
  extendHold(
    job: StoredJob,
    { hold, holdSeconds }: Pick<StoredJob, 'hold'> & { holdSeconds: number },
  ): Spendable | undefined {
    return inTransaction(this.#database, () => {
      const more = Math.max(0, hold - job.hold);
      const available = this.spendable(job.account, job);
      if (available.amount < more) return available;
      this.#credits.hold(job.account, `${job.id}:${holdSeconds}`, more, Date.now());
      this.budgets.charge(job, more);
      this.#jobs.extendHold(job.id, job.hold + more, holdSeconds);
      return undefined;
    });
  }

  /** Stores the end of a job: its state, its last events and the settlement of its credits. Does nothing for an ended job. */
  finish(job: StoredJob, jobEnding: Ending, lastEvents: readonly ServiceEvent[]): void {
    const stored = this.#jobs.get(job.id);
    if (stored?.finishedAt !== null) return;
    const ending = explainedByOrder(jobEnding, stored);
    const { state, finishedAt, reason, charged } = ending;
    this.#change(job.id, () => {
      this.#jobs.finish(job.id, ending);
      this.#workspaces.remove(job.number);
      this.#credits.settle(job, charged, finishedAt);
      this.budgets.charge(stored, charged - stored.hold);
      return [
        ...lastEvents,
        stateEvent(state, finishedAt, reason ?? undefined),
        endEvent(stored, ending, toCredits(charged)),
      ];
    });
    this.#changed.fire({ type: 'ended', job, ending });
  }

  /** Waits until the job has ended or the signal aborts. */
  untilFinished(jobId: string, signal: AbortSignal): Promise<void> {
    const isFinished = (): boolean => this.#jobs.get(jobId)?.finishedAt !== null;
    return untilTrue((listener) => this.onDidAppend(jobId, listener), isFinished, signal);
  }

  /** Commits pending changes, and closes the store. */
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

  /** @returns the ID of the job's last event. */
  #appendEvents(jobId: string, events: readonly ServiceEvent[]): number {
    const number = this.#jobs.numberOf(jobId);
    return number === undefined ? 0 : this.#events.append(number, events);
  }

  #fire(jobId: string, last: number, count: number): void {
    this.#appended.fire(jobId, last);
    this.#changed.fire({ type: 'events', count });
  }
}

/** Adds what a store lacks: tables and nullable columns, which need no migration. Changes nothing in a store that has them. */
function declareTables(database: DatabaseSync): void {
  addMissingColumns(database, 'jobs', JOB_COLUMNS);
  addMissingColumns(database, 'accounts', ACCOUNT_COLUMNS);
  addMissingColumns(database, 'api_keys', KEY_COLUMNS);
  // Indexes of jobs follow the columns of jobs.
  const tables = [
    AUDIT_TABLE,
    BUDGET_TABLE,
    DRAIN_TABLE,
    IDENTITY_TABLE,
    KEY_BUDGET_INDEX,
    RESERVE_TABLE,
    RETENTION_TABLE,
    SECRET_TABLE,
  ];
  for (const sql of tables) database.exec(sql);
  addMissingColumns(database, 'secrets', SECRET_COLUMNS);
}
