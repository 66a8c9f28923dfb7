import { setAttributes, svg } from '../dom/elements.ts';
import type { CanvasStore } from '../state/canvasStore.ts';
import type { Viewport } from '../dom/viewport.ts';

const SIZE = { width: 150, height: 110 };
const MARGIN = 40;
// A smaller flow is shown again with one key, and a map would only cover it.
const MIN_NODES = 20;

/** A small view of the whole flow with the visible part; shown if the flow is larger than the page. */
export function minimap(store: CanvasStore, viewport: Viewport): SVGSVGElement {
  const shapes = svg('path', { class: 'nodes' });
  const frame = svg('rect', { class: 'frame', rx: 2 });
  const element = svg('svg', { class: 'minimap', ...SIZE, 'aria-hidden': 'true' }, shapes, frame);

  const drawNodes = (): void => {
    const { nodes, bounds } = store.state.drawing;
    const [x, y] = [bounds.x - MARGIN, bounds.y - MARGIN];
    const viewBox = `${x} ${y} ${bounds.width + 2 * MARGIN} ${bounds.height + 2 * MARGIN}`;
    setAttributes(element, { viewBox });
    // One path for all nodes: even thousands of nodes are one shape here.
    const boxes = nodes.map(({ box }) => `M${box.x} ${box.y}h${box.width}v${box.height}h${-box.width}z`);
    shapes.setAttribute('d', boxes.join(''));
  };
  const drawFrame = (): void => {
    const { bounds, nodes } = store.state.drawing;
    const { x, y, width, height } = viewport.seen;
    const isWhole =
      x <= bounds.x && y <= bounds.y && x + width >= bounds.x + bounds.width && y + height >= bounds.y + bounds.height;
    element.classList.toggle('is-needless', isWhole || nodes.length < MIN_NODES);
    setAttributes(frame, { x, y, width, height });
  };
  const goTo = (event: PointerEvent): void => {
    const matrix = element.getScreenCTM()?.inverse();
    if (matrix === undefined) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    viewport.centre({ x, y, width: 0, height: 0 });
  };
  store.on(['drawing'], () => {
    drawNodes();
    drawFrame();
  });
  viewport.onDidChange(drawFrame);
  element.addEventListener('pointerdown', (event) => {
    element.setPointerCapture(event.pointerId);
    goTo(event);
  });
  element.addEventListener('pointermove', (event) => {
    if (event.buttons === 1) goTo(event);
  });
  return element;
}
