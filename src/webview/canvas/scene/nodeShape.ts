import * as l10n from '@vscode/l10n';
import type { NodeState } from '../../../flows/run/protocol/nodeState.ts';
import { type DrawnNode, repetitionOf, titleOf } from '../../../flows/layout/drawing.ts';
import { LABEL_FONT } from '../../../flows/layout/flowLayout.ts';
import type { FlowNode } from '../../../flows/graph/graph.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../../flows/project/flowChanges.ts';
import type { Box } from '../../../flows/layout/shape.ts';
import { cutText, cutTextStart, pixelWidth } from '../../../flows/layout/pixelWidth.ts';
import { setAttributes, svg } from '../dom/elements.ts';
import { CHANGE_WORDS } from '../state/canvasWords.ts';
import { type IconName, iconPath } from '../dom/icons.ts';
import { usageText, visitsText } from './runText.ts';

const TITLE_FONT = 13;
/** How much wider bold letters are than the result of `pixelWidth`. */
const BOLD = 1.15;
const FAR_FONT = 27;
const FAR_INSET = 16; // also what the bold font is wider than `pixelWidth` says
const INSET = 12;
const ICON_WIDTH = 22;
const CHEVRON_WIDTH = 20;
const STATE_ICONS: Readonly<Record<NodeState['status'], IconName>> = {
  running: 'run',
  done: 'done',
  failed: 'failed',
  waiting: 'help',
};

/** A node in the drawing. It is rebuilt only if its content has changed. */
export class NodeShape {
  readonly element: SVGGElement;
  #shown = '';

  constructor({ path }: DrawnNode) {
    this.element = svg('g', { class: 'node', 'data-path': path });
  }

  show(drawnNode: DrawnNode, run: NodeState | undefined, change: ChangeKind | undefined): void {
    const { box, node, isStart, isOpen } = drawnNode;
    const running = run && { ...run, visits: visitsText(run), usage: usageText(run.usage) };
    const { className, summary, type, flow, label } = node;
    const key = JSON.stringify([
      box,
      className,
      summary,
      type,
      flow,
      label,
      node.actions.unknown?.reason,
      isStart,
      isOpen,
      running,
      change,
    ]);
    if (key === this.#shown) return;
    this.#shown = key;
    // Says in a word what differs, because colours alone do not.
    const leftOf = (width: number): number => drawnNode.box.width - width - 8;
    const changed = change === undefined ? [] : [flag('change-flag', CHANGE_WORDS[change], leftOf)];
    this.element.replaceChildren(...partsOf(drawnNode, run), ...changed);
    for (const kind of CHANGE_KINDS) this.element.classList.toggle(`is-${kind}`, kind === change);
    setAttributes(this.element, { transform: `translate(${box.x} ${box.y})` });
    this.element.classList.toggle('is-open', isOpen);
    this.element.classList.toggle('is-start', isStart);
    for (const state of ['running', 'done', 'failed', 'waiting'])
      this.element.classList.toggle(`is-${state}`, run?.status === state);
  }
}

function* partsOf(drawnNode: DrawnNode, run: NodeState | undefined): Generator<SVGElement> {
  const { box, node, isStart, isOpen } = drawnNode;
  const { width, height } = box;
  yield svg('title', {}, hoverText(drawnNode, run));
  yield svg('rect', { class: 'glow', x: -3, y: -3, width: width + 6, height: height + 6, rx: 11 });
  yield svg('rect', { class: 'box', width, height, rx: 8 });
  yield svg('rect', { class: 'caret', x: 0, y: 10, width: 3, height: Math.min(40, height - 20), rx: 1.5 });
  yield iconPath(node.type, INSET, 12, `type of-${node.type}`);

  const title = titleOf(node) + repetitionOf(node);
  yield farName(title, box, isOpen);
  const corner = run === undefined ? '' : visitsText(run);
  const usage = run === undefined ? '' : usageText(run.usage);
  const right = width - INSET - (node.flow === undefined ? 0 : CHEVRON_WIDTH);
  const iconRoom = run === undefined ? 0 : 18;
  const titleRoom = right - INSET - ICON_WIDTH - iconRoom - (corner === '' ? 0 : pixelWidth(corner, LABEL_FONT) + 6);
  yield text('title', title, TITLE_FONT * BOLD, INSET + ICON_WIDTH, 25, titleRoom);
  const summaryRoom = right - INSET - (usage === '' ? 0 : pixelWidth(usage, LABEL_FONT) + 8);
  if (run?.status === 'running' && run.said !== undefined && run.said !== '') {
    yield svg('text', { class: 'summary is-said', x: INSET, y: 45 }, cutTextStart(run.said, LABEL_FONT, summaryRoom));
  } else yield summaryText(node, summaryRoom);

  if (run !== undefined) {
    yield iconPath(STATE_ICONS[run.status], right - 14, 12, `state ${run.status}`);
    yield svg('text', { class: 'corner', x: right - iconRoom, y: 24, 'text-anchor': 'end' }, corner);
    yield svg('text', { class: 'corner', x: width - INSET, y: 45, 'text-anchor': 'end' }, usage);
  }
  if (node.flow !== undefined) yield chevron(width, isOpen);
  if (isStart) yield flag('start', l10n.t('start'), () => 12);
  if (node.actions.unknown !== undefined) yield doubt(height);
  yield svg('circle', { class: 'port-reach', cx: width / 2, cy: height, r: 12 });
  yield svg('circle', { class: 'port', cx: width / 2, cy: height, r: 5 });
}

function summaryText(node: FlowNode, room: number): SVGTextElement {
  const summary = node.summary ?? [node.label, node.id].find((name) => name !== titleOf(node)) ?? '';
  return text(`summary${node.summary === undefined ? ' is-name' : ''}`, summary, LABEL_FONT, INSET, 45, room);
}

/** The name as it is shown from far away: large, on up to two lines. */
function farName(title: string, { width, height }: Box, isOpen: boolean): SVGTextElement {
  const room = width - 2 * FAR_INSET;
  const lines = linesOf(title, room);
  const middle = isOpen ? FAR_FONT : height / 2;
  const top = middle - ((lines.length - 1) * FAR_FONT) / 2 + FAR_FONT / 3;
  const spans = lines.map((line, index) =>
    svg('tspan', { x: width / 2, y: top + index * FAR_FONT }, cutText(line, FAR_FONT, room)),
  );
  return svg('text', { class: 'far-name', 'text-anchor': 'middle', 'font-size': FAR_FONT }, ...spans);
}

/** A name in one line, or in two that are broken between words where it is too long. */
function linesOf(title: string, room: number): readonly string[] {
  if (pixelWidth(title, FAR_FONT) <= room) return [title];
  const words = title.split(/(?<=[\s_-])|(?<=\p{Ll})(?=\p{Lu})/u);
  const fitting = words.findLastIndex((_, index) => pixelWidth(words.slice(0, index).join(''), FAR_FONT) <= room);
  const first = words.slice(0, Math.max(1, fitting)).join('');
  return first === title ? [title] : [first, title.slice(first.length)];
}

function text(kind: string, content: string, size: number, x: number, y: number, room: number): SVGTextElement {
  return svg('text', { class: kind, x, y }, cutText(content, size, Math.max(room, 20)));
}

function chevron(width: number, isOpen: boolean): SVGGElement {
  const sign = iconPath('chevron', 0, 0, '');
  if (isOpen) sign.setAttribute('transform', 'rotate(90 8 8)');
  return svg(
    'g',
    { class: 'chevron', 'data-do': 'toggle', transform: `translate(${width - INSET - 14} 12)` },
    svg('rect', { class: 'reach', x: -5, y: -7, width: 26, height: 28, rx: 4 }),
    sign,
  );
}

/** A word on the upper border of a node. @param leftOf its left edge, from its width. */
function flag(name: string, word: string, leftOf: (width: number) => number): SVGGElement {
  const width = pixelWidth(word, LABEL_FONT) + 16;
  return svg(
    'g',
    { class: name, transform: `translate(${leftOf(width)} -9)` },
    svg('rect', { width, height: 18, rx: 9 }),
    svg('text', { x: width / 2, y: 13, 'text-anchor': 'middle' }, word),
  );
}

/** Marks a node that may return actions that the source does not determine; the hover says why. */
function doubt(height: number): SVGGElement {
  return svg(
    'g',
    { class: 'doubt', transform: `translate(18 ${height})` },
    svg('circle', { r: 8 }),
    svg('text', { y: 4, 'text-anchor': 'middle' }, '?'),
  );
}

function hoverText({ node }: DrawnNode, run: NodeState | undefined): string {
  const keys = (accesses: readonly { readonly key: string }[]): string =>
    [...new Set(accesses.map(({ key }) => key))].join(', ');
  return [
    node.label === node.className ? node.className : `${node.className} (${node.label})`,
    node.summary,
    node.reads.length > 0 && l10n.t('Reads {0}', keys(node.reads)),
    node.writes.length > 0 && l10n.t('Writes {0}', keys(node.writes)),
    node.actions.unknown && l10n.t('May return other actions: {0}', node.actions.unknown.reason),
    run?.error !== undefined && l10n.t('Failed: {0}', run.error),
    retriesText(run),
  ]
    .filter(Boolean)
    .join('\n');
}

function retriesText(run: NodeState | undefined): string | undefined {
  if (run === undefined || run.retries === 0) return undefined;
  return run.retries === 1 ? l10n.t('Retried once') : l10n.t('Retried {0} times', run.retries);
}
