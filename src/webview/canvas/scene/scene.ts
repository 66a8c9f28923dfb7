import { svg } from '../dom/elements.ts';
import { EdgeShape } from './edgeShape.ts';
import { NodeShape } from './nodeShape.ts';
import { type RunOverlay, takenKey } from '../state/runOverlay.ts';
import { changesByPlace } from '../state/changes.ts';
import type { CanvasState, CanvasStore } from '../state/canvasStore.ts';

const NO_OVERLAY: RunOverlay = { nodes: new Map(), taken: new Map() };

/** The drawing of the flow. A change to the source updates only the shapes that it affects. */
export class Scene {
  readonly element = svg('svg', { class: 'scene', 'aria-hidden': 'true' });
  /** Everything that pans and zooms. */
  readonly world = svg('g', { class: 'world' });
  /** For lines that are being dragged. */
  readonly sketch = svg('g', { class: 'sketch' });
  readonly #layers = {
    open: svg('g', { class: 'layer' }),
    edges: svg('g', { class: 'layer' }),
    nodes: svg('g', { class: 'layer' }),
    labels: svg('g', { class: 'layer' }),
  };
  readonly #nodes = new Map<string, NodeShape>();
  readonly #edges = new Map<string, EdgeShape>();
  #overlay = NO_OVERLAY;

  constructor(store: CanvasStore, idleMicros: () => number) {
    this.element.append(this.world);
    const { open, edges, nodes, labels } = this.#layers;
    this.world.append(open, edges, nodes, labels, this.sketch);
    store.on(['drawing', 'progress', 'moment', 'step', 'changes'], (state) => {
      this.#overlay = state.progress?.overlayAt(state.step, idleMicros()) ?? NO_OVERLAY;
      this.#draw(state);
      this.#emphasise(state);
    });
    store.on(['selected', 'marked', 'caret', 'found', 'step'], (state) => this.#emphasise(state));
  }

  #draw({ drawing, progress, changes }: CanvasState): void {
    const changed = changesByPlace(changes);
    const paths = new Set(drawing.nodes.map(({ path }) => path));
    for (const [path, shape] of this.#nodes) {
      if (paths.has(path)) continue;
      shape.element.remove();
      this.#nodes.delete(path);
    }
    for (const drawnNode of drawing.nodes) {
      const shape = this.#nodes.get(drawnNode.path) ?? new NodeShape(drawnNode);
      this.#nodes.set(drawnNode.path, shape);
      shape.show(drawnNode, this.#overlay.nodes.get(drawnNode.path), changed.get(`node ${drawnNode.path}`)?.kind);
      const layer = drawnNode.isOpen ? this.#layers.open : this.#layers.nodes;
      if (shape.element.parentNode !== layer) layer.append(shape.element);
    }
    const keys = new Set(drawing.edges.map(({ key }) => key));
    for (const [key, shape] of this.#edges) {
      if (keys.has(key)) continue;
      shape.remove();
      this.#edges.delete(key);
    }
    for (const drawnEdge of drawing.edges) {
      const shape = this.#edges.get(drawnEdge.key) ?? new EdgeShape(drawnEdge);
      if (!this.#edges.has(drawnEdge.key)) {
        this.#edges.set(drawnEdge.key, shape);
        this.#layers.edges.append(shape.element);
        this.#layers.labels.append(shape.label);
      }
      const times = this.#overlay.taken.get(takenKey(drawnEdge.source, drawnEdge.action)) ?? 0;
      shape.show(drawnEdge, times, changed.get(`edge ${drawnEdge.key}`)?.kind);
    }
    this.element.classList.toggle('has-run', progress !== undefined);
  }

  #emphasise({ drawing, selected, marked, caret, found, step, progress }: CanvasState): void {
    const current = step === undefined ? undefined : progress?.steps[step - progress.firstStep]?.pagePath;
    for (const [path, { element }] of this.#nodes) {
      element.classList.toggle(
        'is-selected',
        (selected?.type === 'node' && selected.path === path) || marked.has(path),
      );
      element.classList.toggle('is-caret', caret?.type === 'node' && caret.path === path);
      element.classList.toggle('is-missed', found !== undefined && !found.has(path));
      element.classList.toggle('is-found', found?.has(path) === true);
      element.classList.toggle('is-current', path === current);
    }
    const ends = selected?.type === 'node' ? selected.path : undefined;
    for (const drawnEdge of drawing.edges) {
      const shape = this.#edges.get(drawnEdge.key);
      const isSelected = selected?.type === 'edge' && selected.key === drawnEdge.key;
      shape?.toggle('is-selected', isSelected);
      shape?.toggle('is-near', ends !== undefined && (drawnEdge.source === ends || drawnEdge.target === ends));
      shape?.toggle('is-caret', caret?.type === 'edge' && caret.key === drawnEdge.key);
      shape?.toggle('is-missed', found !== undefined);
      // Lines share tracks, so the selected one is moved to the top.
      if (isSelected && shape !== undefined && this.#layers.edges.lastChild !== shape.element)
        this.#layers.edges.append(shape.element);
    }
  }
}
