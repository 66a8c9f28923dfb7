import * as l10n from '@vscode/l10n';
import { COMPACT, drawCurve, valueRange } from '../jobPage/plot.ts';
import { PlotFrame } from '../jobPage/plotFrame.ts';
import type { ToSweepPage } from './sweepPageMessages.ts';

/** The chosen metric of all jobs in one plot. One job can be highlighted. */
export class Curves {
  readonly #frame = new PlotFrame();
  readonly #paths = new Map<number, SVGPathElement>();

  get element(): HTMLElement {
    return this.#frame.element;
  }

  show({ jobs, metric }: Pick<ToSweepPage, 'jobs' | 'metric'>): void {
    const drawn = jobs.filter(({ curve }) => curve.length > 0);
    const name = l10n.t('{0} of {1} jobs, by step', metric ?? '', drawn.length.toLocaleString('en-US'));
    const points = drawn.flatMap(({ curve }) => curve);
    const xs = valueRange(points.map(([x]) => x));
    const ys = valueRange(points.flatMap(([, y]) => (y === null ? [] : [y])));
    this.#paths.clear();
    for (const { index, curve } of drawn) {
      const inOrder = curve.toSorted(([a], [b]) => a - b);
      this.#paths.set(index, drawCurve(inOrder, { xs, ys }));
    }
    this.#frame.show(name, [...this.#paths.values()], {
      top: COMPACT.format(ys.high),
      bottom: COMPACT.format(ys.low),
      first: COMPACT.format(xs.low),
      last: xs.high > xs.low ? COMPACT.format(xs.high) : '',
    });
  }

  /** Shows which curve is that of a job; undefined for none. */
  highlight(index: number | undefined): void {
    for (const [each, path] of this.#paths) path.classList.toggle('chosen', each === index);
    const chosen = index === undefined ? undefined : this.#paths.get(index);
    if (chosen !== undefined) this.#frame.drawing.append(chosen);
  }
}
