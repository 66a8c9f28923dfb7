import { svg } from '../canvas/dom/elements.ts';
import type { ShownCurve, ShownPlot } from './jobPageMessages.ts';
import { PlotFrame, SIZE } from './plotFrame.ts';

const DAY_MS = 24 * 3_600_000;
export const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });

interface Range {
  readonly low: number;
  readonly high: number;
}

/** A plot of one series, of one or more jobs, with its name and last values as its title. */
export class Plot {
  readonly #frame = new PlotFrame();

  get element(): HTMLElement {
    return this.#frame.element;
  }

  /** @param compared the names of the jobs of `others`. */
  show({ name, axis, others, ...own }: ShownPlot, compared: readonly string[]): void {
    const curves = [own, ...others].map((curve) => curve && { ...curve, points: inOrder(curve) });
    const texts = curves.map((curve, index) => {
      const job = index === 0 ? '' : `${compared[index - 1] ?? ''}: `;
      return curve === null ? '' : `${job}${curve.text}`;
    });
    const title = `${name}: ${texts.filter((text) => text !== '').join('; ')}`;
    const points = curves.flatMap((curve) => curve?.points ?? []);
    const values = points.flatMap(([, y]) => (y === null ? [] : [y]));
    const xs = valueRange(points.map(([x]) => x));
    const ys = valueRange(axis === 'time' ? [0, ...values] : values);
    const paths = curves.flatMap((curve, index) =>
      curve === null ? [] : [drawCurve(curve.points, { xs, ys, className: curveClass(index) })],
    );
    const formatX = axis === 'time' ? timeFormat(xs) : (step: number): string => COMPACT.format(step);
    // The page's own job is on top.
    this.#frame.show(title, paths.toReversed(), {
      top: values.length === 0 ? '' : COMPACT.format(ys.high),
      bottom: values.length === 0 ? '' : COMPACT.format(ys.low),
      first: formatX(xs.low),
      last: xs.high > xs.low ? formatX(xs.high) : '',
    });
  }
}

/** The class with the colour and dashes of a job's curves: 0 is the page's own job. */
export function curveClass(index: number): string {
  return `curve-${index}`;
}

/** Training that was restarted goes back some steps. */
function inOrder({ points }: ShownCurve): ShownCurve['points'] {
  return points.toSorted(([a], [b]) => a - b);
}

/** Both 0 without values. */
export function valueRange(values: readonly number[]): Range {
  return values.length === 0
    ? { low: 0, high: 0 }
    : { low: values.reduce((a, b) => Math.min(a, b)), high: values.reduce((a, b) => Math.max(a, b)) };
}

/** Draws a curve, large enough to be seen if it is a single point. */
export function drawCurve(
  points: ShownPlot['points'],
  { xs, ys, className = '' }: { readonly xs: Range; readonly ys: Range; readonly className?: string },
): SVGPathElement {
  const path = svg('path', { class: className, d: curveOf(points, xs, ys) });
  path.classList.toggle('dot', points.filter(([, y]) => y !== null).length === 1);
  return path;
}

/** Lines between neighbours, interrupted at gaps. A point between gaps is a dot. */
function curveOf(points: ShownPlot['points'], xs: Range, ys: Range): string {
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
