import { isAbort } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import type { SeriesData } from '../../jobs/metrics/series.ts';
import { JobPage } from '../../jobs/report/jobPage.ts';

/** As many as can be distinguished by colour beside the page's own job. */
export const MAX_COMPARED = 4;
// A job may print thousands of metrics in a second.
const NEWS_AFTER_MS = 500;

interface ComparedJobsDeps {
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly log: Logger;
  /** Metrics among the results of a job that has ended. */
  fileMetrics(record: JobRecord, resultBytes: number, signal: AbortSignal): Promise<ReadonlyMap<string, SeriesData>>;
  /** Called when there is more to show, at most twice a second. */
  onNews(): void;
}

/** A job whose metrics a page shows beside those of its own job. */
export interface ComparedJob {
  readonly record: JobRecord;
  readonly page: JobPage;
}

/** The jobs that a page compares its own with. Their metrics grow while the jobs run. */
export class ComparedJobs {
  readonly #deps: ComparedJobsDeps;
  #reading = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #jobs: readonly ComparedJob[] = [];

  constructor(deps: ComparedJobsDeps) {
    this.#deps = deps;
  }

  get all(): readonly ComparedJob[] {
    return this.#jobs;
  }

  /** Replaces the jobs, of which the first four count. */
  set(records: readonly JobRecord[]): void {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#jobs = records.slice(0, MAX_COMPARED).map((record) => ({ record, page: new JobPage() }));
    for (const job of this.#jobs) void this.#read(job, this.#reading.signal);
    this.#tell();
  }

  dispose(): void {
    this.#reading.abort();
    clearTimeout(this.#timer);
  }

  #tell(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#deps.onNews();
    }, NEWS_AFTER_MS);
  }

  async #read({ record, page }: ComparedJob, signal: AbortSignal): Promise<void> {
    const { home, log } = this.#deps;
    try {
      for await (const event of new EventSpool(home, record.id).follow({ signal })) {
        page.push(event);
        this.#tell();
      }
      page.addFileMetrics(await this.#deps.fileMetrics(record, page.results.bytes, signal));
      this.#tell();
    } catch (error) {
      if (!isAbort(error)) log.error('a compared job could not be read', { id: record.id, error });
    }
  }
}
