import * as l10n from '@vscode/l10n';
import { type DrawnEdge, type DrawnNode, edgeAt, nodeAt, titleOf } from '../../../flows/layout/drawing.ts';
import { graphToMermaid } from '../../../flows/layout/graphToMermaid.ts';
import { graphToSvg } from '../../../flows/layout/graphToSvg.ts';
import type { FlowLayout } from '../../../flows/layout/flowLayout.ts';
import type { Announcer } from '../dom/announcer.ts';
import { flowRange, shownFlow, withLayout } from '../state/graphView.ts';
import type { Host } from '../state/editor.ts';
import type { CanvasSelection, CanvasStore } from '../state/canvasStore.ts';
import { NODE_WORDS } from '../state/canvasWords.ts';
import type { Viewport } from '../dom/viewport.ts';

/** Actions on the drawing; changes to the source are in `Editing`. */
export class CanvasActions {
  readonly #store: CanvasStore;
  readonly #host: Host;
  readonly #viewport: Viewport;
  readonly #announcer: Announcer;
  // By the path of the node; valid only until the source changes.
  readonly #beforeOpening = new Map<string, FlowLayout>();

  constructor(store: CanvasStore, host: Host, viewport: Viewport, announcer: Announcer) {
    this.#store = store;
    this.#host = host;
    this.#viewport = viewport;
    this.#announcer = announcer;
  }

  get selectedNode(): DrawnNode | undefined {
    const { selected, drawing } = this.#store.state;
    return selected?.type === 'node' ? nodeAt(drawing, selected.path) : undefined;
  }

  get selectedEdge(): DrawnEdge | undefined {
    const { selected, drawing } = this.#store.state;
    return selected?.type === 'edge' ? edgeAt(drawing, selected.key) : undefined;
  }

  /** The nodes for an action on several: the marked ones, else the selected one. */
  get chosenNodes(): readonly DrawnNode[] {
    const { marked, drawing } = this.#store.state;
    if (marked.size > 0) return drawing.nodes.filter(({ path }) => marked.has(path));
    return this.selectedNode === undefined ? [] : [this.selectedNode];
  }

  /** Selects and shows a node or connection, and announces it. */
  select(selected: CanvasSelection | undefined): void {
    this.#store.set({ selected });
    const [node, edge] = [this.selectedNode, this.selectedEdge];
    if (node !== undefined) this.#viewport.reveal(node.box);
    if (edge !== undefined)
      this.#viewport.reveal({ x: edge.label.x - 40, y: edge.label.y - 20, width: 80, height: 40 });
    if (node !== undefined) this.#announcer.say(describeNode(node));
    if (edge !== undefined) this.#announcer.say(describeEdge(edge, (path) => this.#nameOf(path)));
  }

  /** Clears the marked nodes; returns false if there were none. */
  clearMarks(): boolean {
    const hadMarks = this.#store.state.marked.size > 0;
    if (hadMarks) this.#store.set({ marked: new Set() });
    return hadMarks;
  }

  toggleMark(path: string): void {
    const { marked } = this.#store.state;
    this.#store.set({ marked: marked.symmetricDifference(new Set([path])) });
  }

  /** Shows the selection in the source; as a preview, the focus stays here. */
  reveal(isPreview: boolean): void {
    // The positions are those of one of two versions, not of the text in the editor.
    if (this.#store.state.versions !== undefined || this.#store.state.isTrace) return;
    const range = flowRange(this.#store.state, this.#store.state.selected);
    if (range !== undefined) this.#host.send({ type: 'reveal', range, isPreview });
  }

  /** Expands or collapses the nested flow of a node. When it is collapsed, everything that made room moves back. */
  toggleOpen(path: string): void {
    const { shown, open } = this.#store.state;
    const before = open.has(path) ? this.#beforeOpening.get(path) : undefined;
    if (shown !== undefined && !open.has(path)) this.#beforeOpening.set(path, shown);
    if (before !== undefined && before.graph === shown?.graph) this.#store.set({ shown: before });
    this.#store.set({ open: this.#store.state.open.symmetricDifference(new Set([path])) });
    this.#store.set(withLayout(this.#store.state));
    const node = nodeAt(this.#store.state.drawing, path);
    if (node === undefined) return;
    const title = titleOf(node.node);
    this.#announcer.say(node.isOpen ? l10n.t('{0} opened', title) : l10n.t('{0} closed', title));
  }

  showFlow(flow: string): void {
    this.#store.set({ flow, selected: undefined, marked: new Set() });
    this.#store.set(withLayout(this.#store.state, { isTidy: true }));
    this.#viewport.fit(this.#store.state.drawing.bounds, { isWhole: false });
  }

  /** Lays out the flow from scratch, and forgets the positions of nodes that were moved by hand. */
  tidy(): void {
    const { flow, moved } = this.#store.state;
    if (flow === undefined) return;
    this.#store.set({ moved: { ...moved, [flow]: {} } });
    this.#store.set(withLayout(this.#store.state, { isTidy: true }));
    this.#host.send({ type: 'hints', flow, moved: {} });
    this.fit();
    this.#announcer.say(l10n.t('Layout reset'));
  }

  /** Wraps a long flow into columns, or shows it from top to bottom. */
  toggleWrap(): void {
    const isWrapped = !this.#store.state.isWrapped;
    this.#store.set({ isWrapped });
    this.#store.set(withLayout(this.#store.state));
    this.fit();
    this.#announcer.say(isWrapped ? l10n.t('Long flows are wrapped') : l10n.t('Flows run from top to bottom'));
  }

  /** Moves a node; its position is stored outside the source. */
  moveNode({ flow, node }: DrawnNode, x: number, y: number): void {
    const moved = { ...this.#store.state.moved[flow], [node.id]: { x: Math.round(x), y: Math.round(y) } };
    this.#store.set({ moved: { ...this.#store.state.moved, [flow]: moved } });
    this.#store.set(withLayout(this.#store.state));
    this.#host.send({ type: 'hints', flow, moved });
  }

  fit(): void {
    this.#viewport.fit(this.#store.state.drawing.bounds);
  }

  exportAs(format: 'svg' | 'mermaid'): void {
    const { shown, file } = this.#store.state;
    const graph = shownFlow(this.#store.state);
    if (shown === undefined || graph === undefined) return;
    const text = format === 'svg' ? graphToSvg(shown) : graphToMermaid(graph, file?.flows ?? []);
    this.#host.send({ type: 'export', format, flow: graph.id, text });
  }

  #nameOf(path: string): string {
    const drawn = nodeAt(this.#store.state.drawing, path);
    return drawn === undefined ? path : titleOf(drawn.node);
  }
}

/** A node in a sentence, for screen readers. */
export function describeNode({ node, isStart, isOpen }: DrawnNode): string {
  const nested = isOpen ? l10n.t('nested flow, open') : l10n.t('nested flow, closed');
  return [
    `${titleOf(node)}${node.label === titleOf(node) ? '' : `, ${node.label}`}`,
    isStart ? l10n.t('start') : '',
    node.flow === undefined ? NODE_WORDS[node.type] : nested,
    node.summary ?? '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** A connection in a sentence. */
export function describeEdge({ action, source, target, edge }: DrawnEdge, nameOf: (path: string) => string): string {
  if (edge === undefined) return l10n.t('{0} of {1} is not connected', action, nameOf(source));
  if (target === undefined) return l10n.t('{0}: from {1} to the end of the flow', action, nameOf(source));
  return l10n.t('{0}: from {1} to {2}', action, nameOf(source), nameOf(target));
}
