import * as z from 'zod';
import { numberField, textField, tryParseJson } from '../../core/jsonFields.ts';
import type { SpooledEvent } from '../log/spool.ts';
import { MetricLines } from '../metrics/metricLines.ts';
import { isMetricFile } from '../metrics/metricFiles.ts';
import type { SeriesData } from '../metrics/series.ts';
import { UsageSeries } from '../metrics/usageSeries.ts';
import { Timeline } from './jobTimeline.ts';
import { type Printable, printableLine } from '../../core/text/printable.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { DataLines, ReadableOutput } from '../log/dataLines.ts';
import { pictureUrl, type ResultPreview } from '../results/previews.ts';

const MAX_NAMED = 100;
const MOST_LINES = 10;
const MOST_CHARACTERS = 300;

// More than the last lines need, and enough for a progress bar that was redrawn many times.
const KEPT_CHARACTERS = 16_000;
const MOST_PICTURES = 6;

// About 200 KB of a picture: base64 takes a third more.
const MAX_LINE = 280_000;
const MAX_NAME = 100;

const printedPicture = z.object({ name: z.string().min(1).max(MAX_NAME), data: z.base64().min(1) });

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
  readonly output = new LastOutput();
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

/** The last lines of a job's output, in bounded memory. Of a progress bar, only its last state is a line. */
export class LastOutput {
  readonly #output = new ReadableOutput();
  #text = '';

  push({ event, data, own }: SpooledEvent): void {
    const text = own === true ? undefined : logTextOf(event, data);
    if (text === undefined) return;
    this.#text = (this.#text + this.#output.push(data, text).slice(-KEPT_CHARACTERS)).slice(-KEPT_CHARACTERS);
  }

  /** At most 10 lines of at most 300 characters, without blank ones. */
  get lines(): readonly Printable[] {
    return this.#text
      .split(/\r?\n/)
      .map((line) => printableLine((line.split('\r').findLast((part) => part !== '') ?? '').slice(0, MOST_CHARACTERS)))
      .filter((line) => line.trim() !== '')
      .slice(-MOST_LINES);
  }
}

/**
 * The pictures that a job prints while it runs, in lines such as `farwharf:picture {"name": "samples.png", "data": "iVBORw0…"}`. A later
 * picture replaces one with the same name, and the last six names are kept. Anything else is ignored.
 */
export class PrintedPictures {
  readonly #lines = new DataLines('picture', MAX_LINE);
  readonly #pictures = new Map<string, ResultPreview>();
  #count = 0;

  /** By name, in the order in which they were printed last. */
  get all(): readonly ResultPreview[] {
    return [...this.#pictures.values()];
  }

  /** How many were printed. */
  get count(): number {
    return this.#count;
  }

  /** Adds an event of the job, in order. */
  push(event: { readonly event: string; readonly data: unknown }): void {
    for (const line of this.#lines.push(event)) this.#add(line);
  }

  #add(line: string): void {
    const picture = printedPicture.safeParse(tryParseJson(line)).data;
    const data = picture && pictureUrl(picture.name, picture.data);
    if (picture === undefined || data === undefined) return;
    this.#count += 1;
    const name = printableLine(picture.name);
    this.#pictures.delete(name);
    this.#pictures.set(name, { type: 'picture', name, data });
    for (const oldest of [...this.#pictures.keys()].slice(0, -MOST_PICTURES)) this.#pictures.delete(oldest);
  }
}
