import * as l10n from '@vscode/l10n';
import type { DrawnEdge } from '../../../flows/layout/drawing.ts';
import { svgPath } from '../../../flows/layout/edgeCurves.ts';
import { LABEL_FONT } from '../../../flows/layout/flowLayout.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../../flows/project/flowChanges.ts';
import type { Point } from '../../../flows/layout/shape.ts';
import { pixelWidth } from '../../../flows/layout/pixelWidth.ts';
import { setAttributes, svg } from '../dom/elements.ts';
import { CHANGE_WORDS } from '../state/canvasWords.ts';

const TIP_LENGTH = 8;
const MAX_EXTRA_WIDTH = 2.5;

/** A connection in the drawing: its line, and its label in a layer above the nodes. */
export class EdgeShape {
  readonly element: SVGGElement;
  readonly label: SVGGElement;
  #shown = '';

  constructor({ key }: DrawnEdge) {
    this.element = svg('g', { class: 'edge', 'data-key': key });
    this.label = svg('g', { class: 'label', 'data-key': key });
  }

  show(drawn: DrawnEdge, times: number, change: ChangeKind | undefined): void {
    const { points, label, action, text, tail, edge } = drawn;
    const contents = JSON.stringify([points, label, action, text, tail, edge === undefined, times, change]);
    if (contents === this.#shown) return;
    this.#shown = contents;
    const line = svg('path', { class: 'line', d: svgPath(points) });
    // Each doubling of the visits adds one step of width, so that a loop of a thousand rounds stays a line.
    if (times > 0) line.style.strokeWidth = `${2 + Math.min(MAX_EXTRA_WIDTH, Math.log2(times) * 0.5)}px`;
    this.element.replaceChildren(svg('path', { class: 'reach', d: svgPath(points) }), line, ...endOf(drawn));
    this.label.replaceChildren(...labelParts(drawn, times, change));
    setAttributes(this.label, { transform: `translate(${label.x} ${label.y})` });
    for (const element of [this.element, this.label]) {
      element.classList.toggle('is-taken', times > 0);
      for (const kind of CHANGE_KINDS) element.classList.toggle(`is-${kind}`, kind === change);
      element.classList.toggle('is-stub', edge === undefined);
      element.classList.toggle('is-default', action === 'default');
    }
  }

  remove(): void {
    this.element.remove();
    this.label.remove();
  }

  toggle(name: string, isOn: boolean): void {
    this.element.classList.toggle(name, isOn);
    this.label.classList.toggle(name, isOn);
  }
}

function* endOf({ points, tail, edge, action }: DrawnEdge): Generator<SVGElement> {
  if (tail === undefined) {
    yield svg('path', { class: 'tip', d: tipOf(points) });
    return;
  }
  const { x, y, width, height } = tail;
  if (edge !== undefined) {
    yield svg('rect', { class: 'end', x, y, width, height, rx: 3 });
    return;
  }
  const [middle, centre] = [x + width / 2, y + height / 2];
  yield svg(
    'g',
    { class: 'plus', 'data-do': 'connect' },
    svg('title', {}, l10n.t('“{0}” is not connected. Connect it…', action)),
    svg('circle', { cx: middle, cy: centre, r: width / 2 - 1 }),
    svg('path', { d: `M${middle - 4} ${centre}h8M${middle} ${centre - 4}v8` }),
  );
}

/** An arrowhead at the last point. Lines arrive vertically, so it points up or down. */
function tipOf(points: readonly Point[]): string {
  const [before, end] = [points.at(-2), points.at(-1)];
  if (before === undefined || end === undefined) return '';
  const isUp = before.y > end.y;
  const base = end.y + (isUp ? TIP_LENGTH : -TIP_LENGTH);
  return `M${end.x} ${end.y}L${end.x - 4.5} ${base}L${end.x + 4.5} ${base}z`;
}

function* labelParts(
  { action, text: name, edge }: DrawnEdge,
  times: number,
  change: ChangeKind | undefined,
): Generator<SVGElement> {
  const text = [name, ...(times > 1 ? [`×${times}`] : []), change === undefined ? '' : CHANGE_WORDS[change]]
    .filter((part) => part !== '')
    .join(' ');
  if (text === '') return;
  const width = pixelWidth(text, LABEL_FONT) + 10;
  yield svg('title', {}, edge === undefined ? l10n.t('{0}: returned but not connected', action) : action);
  yield svg('rect', { class: 'pill', x: -width / 2, y: -9, width, height: 18, rx: 9 });
  yield svg('text', { y: 4, 'text-anchor': 'middle' }, text);
}
