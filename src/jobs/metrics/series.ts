// Even, because two points become one. As many as a plot can show, and 1,000 series of them take 8 MB.
const MAX_POINTS = 500;

/** A point of a series: the mean of one or more values, at the position of the last of them. NaN if none of them is finite. */
export type SeriesPoint = readonly [x: number, y: number];

/** The values of a series as plain data. */
export interface SeriesData {
  readonly points: readonly SeriesPoint[];
  /** How many values it has. */
  readonly count: number;
  readonly last: number;
  /** The lowest and the highest finite value; undefined if there is none. */
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/**
 * A series of any number of values in constant memory. When there are too many points, each two become one, and from then on each point
 * is the mean of twice as many values. The last and the extreme values are exact.
 */
export class Series implements SeriesData {
  readonly #points: SeriesPoint[] = [];
  #valuesPerPoint = 1;
  #open: { readonly x: number; readonly sum: number; readonly finite: number; readonly count: number } | undefined;
  #count = 0;
  #last = Number.NaN;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** Adds a value, which may be NaN or infinite, as training that diverges has. */
  push(x: number, y: number): void {
    this.#count += 1;
    this.#last = y;
    const isFinite = Number.isFinite(y);
    if (isFinite) {
      this.#min = Math.min(this.#min, y);
      this.#max = Math.max(this.#max, y);
    }
    const { sum = 0, finite = 0, count = 0 } = this.#open ?? {};
    this.#open = { x, sum: sum + (isFinite ? y : 0), finite: finite + Number(isFinite), count: count + 1 };
    if (this.#open.count < this.#valuesPerPoint) return;
    this.#points.push([x, this.#open.sum / this.#open.finite]);
    this.#open = undefined;
    if (this.#points.length === MAX_POINTS) this.#thin();
  }

  /** At most 500, in the order of their values. */
  get points(): readonly SeriesPoint[] {
    const open = this.#open;
    return open === undefined ? this.#points : [...this.#points, [open.x, open.sum / open.finite]];
  }

  /** How many values were added. */
  get count(): number {
    return this.#count;
  }

  /** The last value, which may be NaN or infinite; NaN if there is none. */
  get last(): number {
    return this.#last;
  }

  /** The lowest finite value; undefined if there is none. */
  get min(): number | undefined {
    return this.#min === Number.POSITIVE_INFINITY ? undefined : this.#min;
  }

  /** The highest finite value; undefined if there is none. */
  get max(): number | undefined {
    return this.#max === Number.NEGATIVE_INFINITY ? undefined : this.#max;
  }

  /** The series as it is now, for another thread. */
  get data(): SeriesData {
    return { points: [...this.points], count: this.count, last: this.last, min: this.min, max: this.max };
  }

  #thin(): void {
    for (let index = 0; index < MAX_POINTS; index += 2) {
      const [[, first] = [0, Number.NaN], [x, second] = [0, Number.NaN]] = this.#points.slice(index, index + 2);
      this.#points[index / 2] = [x, mean(first, second)];
    }
    this.#points.length = MAX_POINTS / 2;
    this.#valuesPerPoint *= 2;
  }
}

/** The mean of those that are numbers. */
function mean(a: number, b: number): number {
  if (Number.isNaN(a)) return b;
  return Number.isNaN(b) ? a : (a + b) / 2;
}
