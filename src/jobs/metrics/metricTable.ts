import { tryParseJson } from '../../core/jsonFields.ts';
import { printableLine } from '../../core/text/printable.ts';
import { Series } from './series.ts';

const MAX_SERIES = 1_000;
const MAX_NAME = 100;
// What Python's json.dumps writes for them is not JSON.
const NON_FINITE = /(?<=[:,]\s{0,8})(?:NaN|-?Infinity)(?=\s{0,8}[,}])/g;
const NON_FINITE_WORDS: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);

/** The series of a job's metrics by name. The first 1,000 names become series. */
export class MetricTable {
  readonly #series = new Map<string, Series>();

  /** By name, in the order of their first values. Names are free of control characters. */
  get series(): ReadonlyMap<string, Series> {
    return this.#series;
  }

  /** Adds a value at a step, or, if that is not finite, at its own number. */
  add(name: string, step: number | undefined, value: number): void {
    const series = this.#seriesOf(printableLine(name).trim().slice(0, MAX_NAME));
    series?.push(step !== undefined && Number.isFinite(step) ? step : series.count + 1, value);
  }

  /** Adds the numbers of a JSON object, at its `step` if it has one. Text that is not an object adds nothing. @param prefix of names. */
  addObject(json: string, prefix = ''): void {
    const values = parseObject(json);
    const step = numberOf(values.find(([name]) => name === 'step')?.[1]);
    for (const [name, value] of values) {
      const y = numberOf(value);
      if (name !== 'step' && y !== undefined && name.trim() !== '') this.add(prefix + name, step, y);
    }
  }

  #seriesOf(name: string): Series | undefined {
    const existing = this.#series.get(name);
    if (existing !== undefined || name === '' || this.#series.size >= MAX_SERIES) return existing;
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
  const value = tryParseJson(json.replaceAll(NON_FINITE, '"$&"'));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
