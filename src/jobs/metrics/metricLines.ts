import { textField } from '../../core/jsonFields.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { MetricTable } from './metricTable.ts';
import type { Series } from './series.ts';

// `farwharf:metric {"step": 10, "loss": 0.3}`, as a line of its own.
const MARK = 'farwharf:metric ';
const MAX_LINE = 16 * 1024;
const LINE_END = /\r\n|[\n\r]/;

/**
 * Reads the metrics that a job prints in marked lines. Each number in the JSON object of a line is a value of the series with its name,
 * at the position of the object's `step`; without a step at its own number. Of what is not like that, nothing is read. The first 1,000
 * names become series.
 */
export class MetricLines {
  /** The start of an unfinished line of each stream. */
  readonly #open = new Map<string, string>();
  readonly #table = new MetricTable();

  /** By name, in the order of their first values. Names are free of control characters. */
  get series(): ReadonlyMap<string, Series> {
    return this.#table.series;
  }

  /** Adds an event of the job, in order. Its text may begin and end inside a line. */
  push({ event, data }: { readonly event: string; readonly data: unknown }): void {
    const text = logTextOf(event, data);
    if (text === undefined) return;
    const stream = textField(data, 'stream') === 'stderr' ? 'stderr' : 'stdout';
    const lines = `${this.#open.get(stream) ?? ''}${text}`.split(LINE_END);
    // One character too many marks a line as too long, however much follows.
    this.#open.set(stream, (lines.pop() ?? '').slice(0, MAX_LINE + 1));
    for (const line of lines) {
      if (line.startsWith(MARK) && line.length <= MAX_LINE) this.#table.addObject(line.slice(MARK.length));
    }
  }
}
