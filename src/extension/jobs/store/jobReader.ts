import type { AsyncLedger } from '../../../jobs/ledger/asyncLedger.ts';
import { isFiltering, type JobFilter, NO_FILTER } from '../../../jobs/ledger/jobFilter.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';

export const PAGE = 200;
const MOST_UNFINISHED = 1_000;
const MOST_PINNED = 200;

/** How far a part of the ledger was read. */
interface Progress {
  /** The last record that was read. */
  readonly last?: JobRecord | undefined;
  readonly isComplete: boolean;
}

const NOT_READ: Progress = { isComplete: false };

/** Reads the ledger in pages, newest first, and where there is a filter, the jobs that pass it and are older than those pages. */
export class JobReader {
  readonly #ledger: Pick<AsyncLedger, 'list'>;
  #filter = NO_FILTER;
  #all = NOT_READ;
  #passing = NOT_READ;

  constructor(ledger: Pick<AsyncLedger, 'list'>) {
    this.#ledger = ledger;
  }

  get filter(): JobFilter {
    return this.#filter;
  }

  /** Whether the ledger has more jobs that the list would show. */
  get hasMore(): boolean {
    return !this.#all.isComplete && !(isFiltering(this.#filter) && this.#passing.isComplete);
  }

  /** The filter of further pages. The first page that passes it is read by `readPassing`. */
  setFilter(filter: JobFilter): void {
    this.#filter = filter;
    this.#passing = NOT_READ;
  }

  /** Whether the pages that were read reach to the time of a job. */
  reaches({ createdAt }: JobRecord): boolean {
    return this.#all.isComplete || (this.#all.last !== undefined && createdAt >= this.#all.last.createdAt);
  }

  /** Reads `count` jobs from the start, those that have not ended, and those that are pinned, however old they are. */
  async readFromStart(count: number): Promise<JobRecord[]> {
    [this.#all, this.#passing] = [NOT_READ, NOT_READ];
    const records: JobRecord[] = [];
    // Page by page: a long list would hold up the thread that receives it.
    while (records.length < count && !this.#all.isComplete) records.push(...(await this.#readAll()));
    if (this.#all.isComplete) return records;
    const before = this.#all.last;
    const older = { ...(before && { before }) };
    records.push(...(await this.#ledger.list({ isUnfinished: true, limit: MOST_UNFINISHED, ...older })));
    records.push(...(await this.#ledger.list({ isPinned: true, limit: MOST_PINNED, ...older })));
    return [...records, ...(await this.readPassing())];
  }

  /** The next page: of the jobs that pass the filter, or of all if there is none. */
  readMore(): Promise<JobRecord[]> {
    return isFiltering(this.#filter) ? this.readPassing() : this.#readAll();
  }

  /** The next jobs that pass the filter and are older than the pages; empty without a filter. */
  async readPassing(): Promise<JobRecord[]> {
    if (!isFiltering(this.#filter) || this.#all.isComplete || this.#passing.isComplete) return [];
    const page = await this.#readPage(this.#passing.last ?? this.#all.last, this.#filter);
    this.#passing = page.progress;
    return page.records;
  }

  async #readAll(): Promise<JobRecord[]> {
    const page = await this.#readPage(this.#all.last);
    this.#all = page.progress;
    return page.records;
  }

  async #readPage(before?: JobRecord, filter?: JobFilter): Promise<{ records: JobRecord[]; progress: Progress }> {
    // One more than is shown, to find out whether there are more.
    const page = await this.#ledger.list({ limit: PAGE + 1, ...(before && { before }), ...(filter && { filter }) });
    const records = page.slice(0, PAGE);
    return { records, progress: { last: records.at(-1) ?? before, isComplete: page.length <= PAGE } };
  }
}
