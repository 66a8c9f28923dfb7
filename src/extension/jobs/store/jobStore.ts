import { setTimeout as sleep } from 'node:timers/promises';
import { Emitter } from '../../../core/processes/lifetime.ts';
import { type AsyncLedger, ledgerChanges, type LedgerWatchOptions } from '../../../jobs/ledger/asyncLedger.ts';
import { type JobFilter, jobMatcher, isFiltering, NO_FILTER } from '../../../jobs/ledger/jobFilter.ts';
import { isOver, isSameRecord, type JobRecord } from '../../../jobs/ledger/record.ts';
import { JobReader, PAGE } from './jobReader.ts';

export interface JobsChange {
  /** Jobs that are new, changed or gone. */
  readonly ids: ReadonlySet<string>;
  /** Jobs that ended since the list was last read. */
  readonly ended: readonly JobRecord[];
  /** Jobs whose results were counted since the list was last read. */
  readonly counted: readonly JobRecord[];
}

const LEDGER_POLL_MS = 500;

/** The ledger while nothing calls it. */
type Resting = NonNullable<LedgerWatchOptions['resting']> & {
  /** Whether any job was ever stored. */
  hasLedger(): Promise<boolean>;
};

/**
 * The jobs that this window knows, newest first: pages of the ledger, and every unfinished or pinned job. Whenever any process changes a
 * job, only that job is read again.
 */
export class JobStore {
  readonly #ledger: AsyncLedger;
  readonly #reader: JobReader;
  readonly #resting: Resting | undefined;
  readonly #changed = new Emitter<JobsChange>();
  readonly #startedAt = new Date().toISOString();
  #records = new Map<string, JobRecord>();
  #sorted: readonly JobRecord[] | undefined = [];
  /** Of the ledger's last change that was read; undefined before the list was read. */
  #changeNumber: number | undefined;
  #limit = PAGE;
  #wantedFilter = NO_FILTER;
  #isLoaded = false;
  /** Whether there was no ledger when the window opened, so that all of its jobs are later ones. */
  #hadNone = false;
  #reading: Promise<void> | undefined;
  #mustReadAgain = false;
  readonly onDidChange = this.#changed.event;

  constructor(ledger: AsyncLedger, resting?: Resting) {
    this.#ledger = ledger;
    this.#reader = new JobReader(ledger);
    this.#resting = resting;
  }

  get records(): readonly JobRecord[] {
    this.#sorted ??= [...this.#records.values()].sort(newestFirst);
    return this.#sorted;
  }

  /** Whether the ledger has more jobs, that pass the filter if there is one, than were read. */
  get hasMore(): boolean {
    return this.#reader.hasMore;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Whether the response to a submission has not arrived yet, or was lost; also before the first reading. */
  get hasUnanswered(): boolean {
    return !this.#isLoaded || this.records.some(({ state }) => state === 'sending' || state === 'unknown');
  }

  /** Jobs of any age that pass it are read too. The others stay in `records`. */
  get filter(): JobFilter {
    return this.#reader.filter;
  }

  get(id: string): JobRecord | undefined {
    return this.#records.get(id);
  }

  async setFilter(filter: JobFilter): Promise<void> {
    this.#wantedFilter = filter;
    await this.#inTurn(async () => {
      if (filter !== this.#wantedFilter) return; // another one was typed meanwhile
      if (!this.#isLoaded) await this.#readChanges();
      // Jobs that only the old filter had found would leave gaps between the pages.
      const removed = isFiltering(this.#reader.filter) ? this.#foundByFilter() : [];
      this.#reader.setFilter(filter);
      this.#merge([], { isLater: false, gone: removed, mustTell: true });
      this.#merge(await this.#reader.readPassing(), { isLater: false, mustTell: true });
    });
  }

  async showMore(): Promise<void> {
    await this.#inTurn(async () => {
      if (!this.#isLoaded) await this.#readChanges();
      if (!isFiltering(this.#reader.filter)) this.#limit += PAGE;
      this.#merge(await this.#reader.readMore(), { isLater: false, mustTell: true });
    });
  }

  /** Reads what has changed. Calls during a read share one more read. */
  async refresh(): Promise<void> {
    if (this.#reading) {
      this.#mustReadAgain = true;
      return this.#reading;
    }
    await this.#inTurn(() => this.#readChanges());
  }

  /**
   * Resolves once there may be jobs. Until then there is nothing to follow, and a thread for the ledger would cost memory.
   *
   * @throws the signal's reason on abort.
   */
  async untilUsed(signal: AbortSignal): Promise<void> {
    while (this.#resting?.isResting() === true && !(await this.#resting.hasLedger())) {
      this.#hadNone = true;
      await sleep(LEDGER_POLL_MS, undefined, { signal, ref: false });
    }
  }

  /** Keeps the list equal to the ledger until the signal aborts. */
  async keepFresh(signal: AbortSignal): Promise<void> {
    for await (const _ of ledgerChanges(this.#ledger, { signal, resting: this.#resting })) await this.refresh();
  }

  /** Runs `read` after the reading in progress, and then reads what has changed meanwhile if that was asked for. */
  async #inTurn(read: () => Promise<void>): Promise<void> {
    while (this.#reading) await this.#reading.catch(() => {});
    const reading = async (): Promise<void> => {
      await read();
      while (this.#mustReadAgain) {
        this.#mustReadAgain = false;
        await this.#readChanges();
      }
    };
    this.#reading = reading().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #readChanges(): Promise<void> {
    const number = this.#changeNumber;
    const changes = await this.#ledger.changesSince(number);
    if (changes === undefined || number === undefined) {
      // The number is older than the list, so that a change in between is read twice, not missed.
      const current = changes ?? (await this.#ledger.changesSince());
      const records = await this.#reader.readFromStart(this.#limit);
      this.#merge(records, { isLater: true, gone: this.#otherThan(records), mustTell: !this.#isLoaded });
      this.#changeNumber = current?.number;
      return;
    }
    this.#changeNumber = changes.number;
    if (changes.changed.length + changes.deleted.length === 0) return;
    const isShown = this.#shownTest();
    const shown = changes.changed.filter(isShown);
    const removed = changes.changed.filter((record) => !isShown(record)).map(({ id }) => id);
    this.#merge(shown, { isLater: true, gone: [...removed, ...changes.deleted], mustTell: false });
  }

  /** Whether a job that has changed is in the list. */
  #shownTest(): (record: JobRecord) => boolean {
    const passes = isFiltering(this.#reader.filter) ? jobMatcher(this.#reader.filter) : (): boolean => false;
    return (record) =>
      !record.removed &&
      (this.#records.has(record.id) ||
        this.#reader.reaches(record) ||
        !isOver(record) ||
        record.pinned ||
        passes(record));
  }

  #otherThan(records: readonly JobRecord[]): string[] {
    const ids = new Set(records.map(({ id }) => id));
    return [...this.#records.keys()].filter((id) => !ids.has(id));
  }

  #foundByFilter(): string[] {
    const isKept = (record: JobRecord): boolean => this.#reader.reaches(record) || !isOver(record) || record.pinned;
    return this.records.filter((record) => !isKept(record)).map(({ id }) => id);
  }

  /** @param isLater whether the records are what has changed, so that an unknown one may have ended since the list was last read. */
  #merge(
    records: readonly JobRecord[],
    {
      isLater,
      gone = [],
      mustTell,
    }: { readonly isLater: boolean; readonly gone?: readonly string[]; readonly mustTell: boolean },
  ): void {
    const wasLoaded = this.#isLoaded || this.#hadNone;
    this.#isLoaded = true;
    const ids = new Set<string>();
    const ended: JobRecord[] = [];
    const counted: JobRecord[] = [];
    for (const record of records) {
      const old = this.#records.get(record.id);
      if (old && isSameRecord(old, record)) continue;
      this.#records.set(record.id, record);
      ids.add(record.id);
      // A job may end before this window has seen it running.
      const wasOverBefore = !old && (!wasLoaded || !isLater || (record.finishedAt ?? '') < this.#startedAt);
      const wasOver = old ? isOver(old) : wasOverBefore;
      if (!wasOver && isOver(record)) ended.push(record);
      const wasCounted = old ? old.results !== null : wasOverBefore;
      if (!wasCounted && record.results !== null) counted.push(record);
    }
    for (const id of gone) if (this.#records.delete(id)) ids.add(id);
    if (ids.size > 0) this.#sorted = undefined;
    if (ids.size > 0 || mustTell) this.#changed.fire({ ids, ended, counted });
  }
}

function newestFirst(one: JobRecord, other: JobRecord): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? 1 : -1;
  return one.id < other.id ? 1 : -1;
}
