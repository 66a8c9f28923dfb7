import { setAttributes, svg } from '../dom/elements.ts';
import type { Store } from '../state/store.ts';
import type { Viewport } from '../dom/viewport.ts';

const SIZE = { width: 150, height: 110 };
const MARGIN = 40;
// A smaller flow is shown again with one key, and a map would only cover it.
const MIN_NODES = 20;

/** A small view of the whole flow with the visible part; shown if the flow is larger than the page. */
export class Minimap {
  readonly element = svg('svg', { class: 'minimap', ...SIZE, 'aria-hidden': 'true' });
  readonly #nodes = svg('path', { class: 'nodes' });
  readonly #frame = svg('rect', { class: 'frame', rx: 2 });
  readonly #store: Store;
  readonly #viewport: Viewport;

  constructor(store: Store, viewport: Viewport) {
    this.#store = store;
    this.#viewport = viewport;
    this.element.append(this.#nodes, this.#frame);
    store.on(['drawing'], () => {
      this.#drawNodes();
      this.#drawFrame();
    });
    viewport.onDidChange(() => this.#drawFrame());
    const goTo = (event: PointerEvent): void => {
      const matrix = this.element.getScreenCTM()?.inverse();
      if (matrix === undefined) return;
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
      viewport.centre({ x, y, width: 0, height: 0 });
    };
    this.element.addEventListener('pointerdown', (event) => {
      this.element.setPointerCapture(event.pointerId);
      goTo(event);
    });
    this.element.addEventListener('pointermove', (event) => {
      if (event.buttons === 1) goTo(event);
    });
  }

  #drawNodes(): void {
    const { nodes, bounds } = this.#store.state.drawing;
    const [x, y] = [bounds.x - MARGIN, bounds.y - MARGIN];
    const viewBox = `${x} ${y} ${bounds.width + 2 * MARGIN} ${bounds.height + 2 * MARGIN}`;
    setAttributes(this.element, { viewBox });
    // One path for all nodes: even thousands of nodes are one shape here.
    this.#nodes.setAttribute(
      'd',
      nodes.map(({ box }) => `M${box.x} ${box.y}h${box.width}v${box.height}h${-box.width}z`).join(''),
    );
  }

  #drawFrame(): void {
    const { bounds, nodes } = this.#store.state.drawing;
    const { seen } = this.#viewport;
    const isWhole =
      seen.x <= bounds.x &&
      seen.y <= bounds.y &&
      seen.x + seen.width >= bounds.x + bounds.width &&
      seen.y + seen.height >= bounds.y + bounds.height;
    this.element.classList.toggle('is-needless', isWhole || nodes.length < MIN_NODES);
    const { x, y, width, height } = seen;
    setAttributes(this.#frame, { x, y, width, height });
  }
}
