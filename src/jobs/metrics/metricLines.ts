import { DataLines } from '../log/dataLines.ts';
import { MetricTable } from './metricTable.ts';
import type { Series } from './series.ts';

const MAX_LINE = 16 * 1024;

/**
 * Reads the metrics that a job prints in marked lines. Each number in the JSON object of a line is a value of the series with its name, at
 * the position of the object's `step`; without a step at its own number. Anything else is ignored. The first 1,000 names become series.
 */
export class MetricLines {
  readonly #lines = new DataLines('metric', MAX_LINE);
  readonly #table = new MetricTable();

  /** By name, in the order of their first values. Names are free of control characters. */
  get series(): ReadonlyMap<string, Series> {
    return this.#table.series;
  }

  /** Adds an event of the job, in order. Its text may begin and end inside a line. */
  push(event: { readonly event: string; readonly data: unknown }): void {
    for (const line of this.#lines.push(event)) this.#table.addObject(line);
  }
}
