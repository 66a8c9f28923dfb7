import * as l10n from '@vscode/l10n';
import { html, setAttributes, setText, svg } from '../canvas/dom/elements.ts';

// Coordinates of the drawing, which stretches to the width of its place.
export const SIZE = 100;

/** The ends of the axes in words. */
interface AxisLabels {
  readonly top: string;
  readonly bottom: string;
  readonly first: string;
  readonly last: string;
}

/** A plot's place: its title, which is also what screen readers say, the drawing, and labels at the ends of the axes. */
export class PlotFrame {
  readonly element: HTMLElement;
  readonly drawing = svg('svg', { viewBox: `0 0 ${SIZE} ${SIZE}`, preserveAspectRatio: 'none' });
  readonly #title = html('figcaption', {});
  readonly #place: HTMLElement;
  readonly #labels = {
    top: html('span', { class: 'top' }),
    bottom: html('span', { class: 'bottom' }),
    first: html('span', { class: 'first' }),
    last: html('span', { class: 'last' }),
  };

  constructor() {
    this.#place = html('div', { class: 'plot', role: 'img' }, this.drawing, ...Object.values(this.#labels));
    this.element = html('figure', {}, this.#title, this.#place);
  }

  /** Replaces the curves and all texts. */
  show(title: string, curves: readonly SVGPathElement[], labels: AxisLabels): void {
    setText(this.#title, title);
    setAttributes(this.#place, { 'aria-label': l10n.t('Plot of {0}', title) });
    this.drawing.replaceChildren(...curves);
    setText(this.#labels.top, labels.top);
    setText(this.#labels.bottom, labels.bottom);
    setText(this.#labels.first, labels.first);
    setText(this.#labels.last, labels.last);
  }
}
