import { Emitter } from '../../core/processes/lifetime.ts';
import { type AsyncLedger, ledgerChanges, type LedgerWatchOptions } from '../../jobs/ledger/asyncLedger.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';

const PAGE = 200;
const MOST_UNFINISHED = 1_000;

export interface JobsChange {
  /** Jobs that are new, changed or gone. */
  readonly ids: ReadonlySet<string>;
  /** Jobs that ended since the list was last read. */
  readonly ended: readonly JobRecord[];
  /** Jobs whose results were counted since the list was last read. */
  readonly counted: readonly JobRecord[];
}

/** The jobs that this window shows, newest first: pages of the ledger and every unfinished job, read again whenever any process changes one. */
export class JobStore {
  readonly #ledger: AsyncLedger;
  readonly #resting: LedgerWatchOptions['resting'];
  readonly #changed = new Emitter<JobsChange>();
  readonly #startedAt = new Date().toISOString();
  #records = new Map<string, JobRecord>();
  #limit = PAGE;
  #hasMore = false;
  #isLoaded = false;
  #reading: Promise<void> | undefined;
  #mustReadAgain = false;
  readonly onDidChange = this.#changed.event;

  constructor(ledger: AsyncLedger, resting?: LedgerWatchOptions['resting']) {
    this.#ledger = ledger;
    this.#resting = resting;
  }

  get records(): readonly JobRecord[] {
    return [...this.#records.values()];
  }

  /** Whether the ledger has more jobs than were read. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Whether the response to a submission has not arrived yet, or was lost; also before the first reading. */
  get hasUnanswered(): boolean {
    return !this.#isLoaded || this.records.some(({ state }) => state === 'sending' || state === 'unknown');
  }

  get(id: string): JobRecord | undefined {
    return this.#records.get(id);
  }

  async showMore(): Promise<void> {
    this.#limit += PAGE;
    await this.refresh();
  }

  /** Reads the list. Calls during a read share one more read. */
  async refresh(): Promise<void> {
    if (this.#reading) {
      this.#mustReadAgain = true;
      return this.#reading;
    }
    this.#reading = this.#readAll();
    try {
      await this.#reading;
    } finally {
      this.#reading = undefined;
    }
  }

  /** Keeps the list equal to the ledger until the signal aborts. */
  async keepFresh(signal: AbortSignal): Promise<void> {
    for await (const _ of ledgerChanges(this.#ledger, { signal, resting: this.#resting })) await this.refresh();
  }

  async #readAll(): Promise<void> {
    do {
      this.#mustReadAgain = false;
      // One more than is shown, to find out whether there are more.
      const page = await this.#ledger.list({ limit: this.#limit + 1 });
      this.#hasMore = page.length > this.#limit;
      const shown = page.slice(0, this.#limit);
      const oldest = shown.at(-1);
      // Running jobs are followed and counted however old they are.
      const older = this.#hasMore
        ? await this.#ledger.list({ isUnfinished: true, limit: MOST_UNFINISHED, ...(oldest && { before: oldest }) })
        : [];
      this.#apply([...shown, ...older]);
    } while (this.#mustReadAgain);
  }

  #apply(list: readonly JobRecord[]): void {
    const before = this.#records;
    const wasLoaded = this.#isLoaded;
    this.#records = new Map(list.map((record) => [record.id, record]));
    this.#isLoaded = true;
    const ids = new Set<string>();
    const ended: JobRecord[] = [];
    const counted: JobRecord[] = [];
    for (const record of this.#records.values()) {
      const old = before.get(record.id);
      if (old && JSON.stringify(old) === JSON.stringify(record)) continue;
      ids.add(record.id);
      // A job may end before this window has seen it running.
      const wasOverBefore = !old && (!wasLoaded || (record.finishedAt ?? '') < this.#startedAt);
      const wasOver = old ? isOver(old) : wasOverBefore;
      if (!wasOver && isOver(record)) ended.push(record);
      const wasCounted = old ? old.results !== null : wasOverBefore;
      if (!wasCounted && record.results !== null) counted.push(record);
    }
    for (const id of before.keys()) if (!this.#records.has(id)) ids.add(id);
    if (ids.size > 0 || !wasLoaded) this.#changed.fire({ ids, ended, counted });
  }
}
