import { html, setAttributes, setText, svg } from '../canvas/dom/elements.ts';
import type { ShownPlot } from './messages.ts';

// Coordinates of the drawing, which stretches to the width of its place.
export const SIZE = 100;
const DAY_MS = 24 * 3_600_000;
export const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });

interface Range {
  readonly low: number;
  readonly high: number;
}

/** A plot of one series with its name and last value as its title, which is also what screen readers say. */
export class Plot {
  readonly element: HTMLElement;
  readonly #title = html('figcaption', {});
  readonly #curve = svg('path', {});
  readonly #place: HTMLElement;
  readonly #labels = {
    top: plotLabel('top'),
    bottom: plotLabel('bottom'),
    first: plotLabel('first'),
    last: plotLabel('last'),
  };

  constructor() {
    const drawing = svg('svg', { viewBox: `0 0 ${SIZE} ${SIZE}`, preserveAspectRatio: 'none' }, this.#curve);
    this.#place = html('div', { class: 'plot', role: 'img' }, drawing, ...Object.values(this.#labels));
    this.element = html('figure', {}, this.#title, this.#place);
  }

  show({ name, text, axis, points }: ShownPlot): void {
    setText(this.#title, `${name}: ${text}`);
    setAttributes(this.#place, { 'aria-label': `Plot of ${name}: ${text}` });
    // Training that was restarted goes back some steps.
    const ordered = points.toSorted(([a], [b]) => a - b);
    const values = ordered.flatMap(([, y]) => (y === null ? [] : [y]));
    const xs = rangeOf(ordered.map(([x]) => x));
    const ys = rangeOf(axis === 'time' ? [0, ...values] : values);
    setAttributes(this.#curve, { d: curveOf(ordered, xs, ys) });
    const formatX = axis === 'time' ? timeFormat(xs) : (step: number): string => COMPACT.format(step);
    setText(this.#labels.top, values.length === 0 ? '' : COMPACT.format(ys.high));
    setText(this.#labels.bottom, values.length === 0 ? '' : COMPACT.format(ys.low));
    setText(this.#labels.first, formatX(xs.low));
    setText(this.#labels.last, xs.high > xs.low ? formatX(xs.high) : '');
  }
}

/** A label at an end of an axis. */
export function plotLabel(place: string): HTMLElement {
  return html('span', { class: place });
}

/** Both 0 without values. */
export function rangeOf(values: readonly number[]): Range {
  return values.length === 0
    ? { low: 0, high: 0 }
    : { low: values.reduce((a, b) => Math.min(a, b)), high: values.reduce((a, b) => Math.max(a, b)) };
}

/** Lines between neighbours, interrupted at gaps. A point between gaps is a dot. */
export function curveOf(points: ShownPlot['points'], xs: Range, ys: Range): string {
  const place = (value: number, { low, high }: Range): number =>
    high > low ? (SIZE * (value - low)) / (high - low) : 0;
  let isOpen = false;
  return points
    .map(([x, y]) => {
      const command = isOpen ? 'L' : 'M';
      isOpen = y !== null;
      if (y === null) return '';
      const at = `${place(x, xs).toFixed(2)} ${(SIZE - place(y, ys)).toFixed(2)}`;
      return command === 'M' ? `M${at}h0` : `L${at}`;
    })
    .join('');
}

/** Times of day, or dates if the range is longer than one. */
function timeFormat({ low, high }: Range): (time: number) => string {
  const isLong = high - low > DAY_MS;
  return (time) =>
    isLong ? new Date(time).toLocaleDateString() : new Date(time).toLocaleTimeString('en-US', { hourCycle: 'h23' });
}
