import { html, setAttributes, setText, svg } from '../canvas/dom/elements.ts';
import { COMPACT, curveOf, plotLabel, rangeOf, SIZE } from '../jobPage/plot.ts';
import type { ToSweepPage } from './messages.ts';

/** The chosen metric of all jobs in one plot. One job can be highlighted. */
export class Curves {
  readonly element: HTMLElement;
  readonly #title = html('figcaption', {});
  readonly #drawing = svg('svg', { viewBox: `0 0 ${SIZE} ${SIZE}`, preserveAspectRatio: 'none' });
  readonly #place: HTMLElement;
  readonly #labels = {
    top: plotLabel('top'),
    bottom: plotLabel('bottom'),
    first: plotLabel('first'),
    last: plotLabel('last'),
  };
  readonly #paths = new Map<number, SVGPathElement>();

  constructor() {
    this.#place = html('div', { class: 'plot', role: 'img' }, this.#drawing, ...Object.values(this.#labels));
    this.element = html('figure', {}, this.#title, this.#place);
  }

  show({ jobs, metric }: Pick<ToSweepPage, 'jobs' | 'metric'>): void {
    const drawn = jobs.filter(({ curve }) => curve.length > 0);
    const name = `${metric ?? ''} of ${drawn.length.toLocaleString('en-US')} jobs, by step`;
    setText(this.#title, name);
    setAttributes(this.#place, { 'aria-label': `Plot of ${name}` });
    const points = drawn.flatMap(({ curve }) => curve);
    const xs = rangeOf(points.map(([x]) => x));
    const ys = rangeOf(points.flatMap(([, y]) => (y === null ? [] : [y])));
    this.#paths.clear();
    for (const { index, curve } of drawn) {
      const path = svg('path', {
        d: curveOf(
          curve.toSorted(([a], [b]) => a - b),
          xs,
          ys,
        ),
      });
      this.#paths.set(index, path);
    }
    this.#drawing.replaceChildren(...this.#paths.values());
    setText(this.#labels.top, COMPACT.format(ys.high));
    setText(this.#labels.bottom, COMPACT.format(ys.low));
    setText(this.#labels.first, COMPACT.format(xs.low));
    setText(this.#labels.last, xs.high > xs.low ? COMPACT.format(xs.high) : '');
  }

  /** Shows which curve is that of a job; undefined for none. */
  highlight(index: number | undefined): void {
    for (const [each, path] of this.#paths) setAttributes(path, { class: each === index ? 'chosen' : undefined });
    const chosen = index === undefined ? undefined : this.#paths.get(index);
    if (chosen !== undefined) this.#drawing.append(chosen);
  }
}
