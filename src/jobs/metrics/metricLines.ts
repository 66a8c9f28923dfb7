import { textField } from '../../core/jsonFields.ts';
import { printableLine } from '../../core/text/printable.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { Series } from './series.ts';

// `farwharf:metric {"step": 10, "loss": 0.3}`, as a line of its own.
const MARK = 'farwharf:metric ';
const MAX_LINE = 16 * 1024;
const MAX_SERIES = 1_000;
const MAX_NAME = 100;
const LINE_END = /\r\n|[\n\r]/;
// What Python's json.dumps writes for them is not JSON.
const NON_FINITE = /(?<=[:,]\s{0,8})(?:NaN|-?Infinity)(?=\s{0,8}[,}])/g;
const NON_FINITE_WORDS: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);

/**
 * Reads the metrics that a job prints in marked lines. Each number in the JSON object of a line is a value of the series with its name,
 * at the position of the object's `step`; without a step at its own number. Of what is not like that, nothing is read. The first 1,000
 * names become series.
 */
export class MetricLines {
  /** The start of an unfinished line of each stream. */
  readonly #open = new Map<string, string>();
  readonly #series = new Map<string, Series>();

  /** By name, in the order of their first values. Names are free of control characters. */
  get series(): ReadonlyMap<string, Series> {
    return this.#series;
  }

  /** Adds an event of the job, in order. Its text may begin and end inside a line. */
  push({ event, data }: { readonly event: string; readonly data: unknown }): void {
    const text = logTextOf(event, data);
    if (text === undefined) return;
    const stream = textField(data, 'stream') === 'stderr' ? 'stderr' : 'stdout';
    const lines = `${this.#open.get(stream) ?? ''}${text}`.split(LINE_END);
    // One character too many marks a line as too long, however much follows.
    this.#open.set(stream, (lines.pop() ?? '').slice(0, MAX_LINE + 1));
    for (const line of lines) if (line.startsWith(MARK) && line.length <= MAX_LINE) this.#add(line.slice(MARK.length));
  }

  #add(json: string): void {
    const values = parseObject(json);
    const step = numberOf(values.find(([name]) => name === 'step')?.[1]);
    for (const [name, value] of values) {
      const y = numberOf(value);
      if (name === 'step' || y === undefined) continue;
      const series = this.#seriesOf(printableLine(name).trim().slice(0, MAX_NAME));
      series?.push(step !== undefined && Number.isFinite(step) ? step : series.count + 1, y);
    }
  }

  #seriesOf(name: string): Series | undefined {
    const known = this.#series.get(name);
    if (known !== undefined || name === '' || this.#series.size >= MAX_SERIES) return known;
    const series = new Series();
    this.#series.set(name, series);
    return series;
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' || NON_FINITE_WORDS.has(value) ? Number(value) : undefined;
}

/** The fields of a JSON object, in which numbers may be NaN or infinite; none for anything else. */
function parseObject(json: string): readonly (readonly [string, unknown])[] {
  try {
    const value: unknown = JSON.parse(json.replaceAll(NON_FINITE, '"$&"'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  } catch {
    return [];
  }
}
