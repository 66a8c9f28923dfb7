import { numberField, textField } from '../../core/jsonFields.ts';
import type { SpooledEvent } from '../log/spool.ts';
import { MetricLines } from '../metrics/metricLines.ts';
import { isMetricFile } from '../metrics/metricFiles.ts';
import type { SeriesData } from '../metrics/series.ts';
import { UsageSeries } from '../metrics/usageSeries.ts';
import { OutputTail } from './outputTail.ts';
import { PrintedPictures } from './printedPictures.ts';
import { Timeline } from './timeline.ts';

const MAX_NAMED = 100;

/** The files that a job created or changed, as far as its events name them. */
export interface PageResults {
  readonly count: number;
  readonly bytes: number;
  /** The first 100, as the service sent their names. */
  readonly first: readonly { readonly path: string; readonly bytes: number }[];
}

/** Collects what a job's page shows from the job's events, in bounded memory however many there are. */
export class JobPage {
  readonly timeline = new Timeline();
  readonly usage = new UsageSeries();
  readonly #lines = new MetricLines();
  readonly output = new OutputTail();
  readonly pictures = new PrintedPictures();
  #fileMetrics: ReadonlyMap<string, SeriesData> = new Map();
  #hasMetricFiles = false;
  #results: PageResults = { count: 0, bytes: 0, first: [] };

  /** Adds an event; in order. */
  push(event: SpooledEvent): void {
    this.timeline.push(event);
    this.usage.push(event);
    this.#lines.push(event);
    this.output.push(event);
    this.pictures.push(event);
    if (event.event === 'artifact') this.#addResult(event.data);
  }

  /** The job's own metrics by name: those that it printed, then those in its files. */
  get metrics(): ReadonlyMap<string, SeriesData> {
    return new Map<string, SeriesData>([...this.#fileMetrics, ...this.#lines.series]);
  }

  /** Whether there are results with metrics, as far as events name them. */
  get hasMetricFiles(): boolean {
    return this.#hasMetricFiles;
  }

  /** Adds the metrics in the job's results. */
  addFileMetrics(metrics: ReadonlyMap<string, SeriesData>): void {
    this.#fileMetrics = metrics;
  }

  get results(): PageResults {
    return this.#results;
  }

  #addResult(data: unknown): void {
    const path = textField(data, 'path');
    if (path === undefined) return;
    this.#hasMetricFiles ||= isMetricFile(path);
    const size = Math.max(0, numberField(data, 'size') ?? 0);
    const { count, bytes, first } = this.#results;
    const named = first.length < MAX_NAMED ? [...first, { path, bytes: size }] : first;
    this.#results = { count: count + 1, bytes: bytes + size, first: named };
  }
}
