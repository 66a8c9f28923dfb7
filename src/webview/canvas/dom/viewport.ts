import type { Box, Point } from '../../../flows/layout/shape.ts';

const MIN_SCALE = 0.08;
const MAX_SCALE = 3;
const MARGIN = 32;
// At the larger scale, everything in a node is easy to read. Down to the smaller one, a whole flow is shown with all details.
const READABLE_SCALE = 0.75;
const DETAIL_SCALE = 0.6;
// Below this scale only the names of nodes are shown, large.
const FAR_SCALE = 0.5;
// Below this scale even those cannot be read: the start of a flow is shown instead, and the minimap shows the rest.
const READABLE_FAR_SCALE = 0.3;

/** The visible part of the drawing, and its scale. */
export class Viewport {
  readonly #surface: HTMLElement;
  readonly #world: SVGElement;
  readonly #listeners: (() => void)[] = [];
  #offset: Point = { x: 0, y: 0 };
  #scale = 1;
  #size = { width: 0, height: 0 };
  /** Undefined once the view was moved by hand. */
  #fitted: { readonly box: Box; readonly isWhole: boolean } | undefined;

  constructor(surface: HTMLElement, world: SVGElement) {
    this.#surface = surface;
    this.#world = world;
  }

  get scale(): number {
    return this.#scale;
  }

  /** The visible part of the drawing, in its own pixels. */
  get seen(): Box {
    const { clientWidth, clientHeight } = this.#surface;
    return {
      x: -this.#offset.x / this.#scale,
      y: -this.#offset.y / this.#scale,
      width: clientWidth / this.#scale,
      height: clientHeight / this.#scale,
    };
  }

  onDidChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Converts a position in the window to one in the drawing. */
  toDrawing({ x, y }: Point): Point {
    const { left, top } = this.#surface.getBoundingClientRect();
    return { x: (x - left - this.#offset.x) / this.#scale, y: (y - top - this.#offset.y) / this.#scale };
  }

  /** Converts a position in the drawing to one on the surface. */
  toSurface({ x, y }: Point): Point {
    return { x: x * this.#scale + this.#offset.x, y: y * this.#scale + this.#offset.y };
  }

  panBy(dx: number, dy: number): void {
    this.#set({ x: this.#offset.x + dx, y: this.#offset.y + dy }, this.#scale);
  }

  /** Zooms around a position in the window, or the middle. */
  zoomBy(factor: number, around?: Point): void {
    const scale = clamp(this.#scale * factor, MIN_SCALE, MAX_SCALE);
    const { left, top, width, height } = this.#surface.getBoundingClientRect();
    const at = around === undefined ? { x: width / 2, y: height / 2 } : { x: around.x - left, y: around.y - top };
    const ratio = scale / this.#scale;
    this.#set({ x: at.x - (at.x - this.#offset.x) * ratio, y: at.y - (at.y - this.#offset.y) * ratio }, scale);
  }

  zoomTo(scale: number): void {
    this.zoomBy(scale / this.#scale);
  }

  /** Shows a whole box, with `isWhole: false` only its start if the whole would be unreadable. */
  fit(box: Box, { isWhole = true } = {}): void {
    const { clientWidth, clientHeight } = this.#surface;
    const [width, height] = [clientWidth - 2 * MARGIN, clientHeight - 2 * MARGIN];
    const whole = Math.min(width / Math.max(box.width, 1), height / Math.max(box.height, 1), 1);
    const scale = clamp(readableScale(whole, isWhole), MIN_SCALE, 1);
    const [isCut, isWide] = [box.height * scale > height, box.width * scale > width];
    this.#set(
      {
        x: isWide ? MARGIN - box.x * scale : clientWidth / 2 - (box.x + box.width / 2) * scale,
        y: isCut ? MARGIN - box.y * scale : clientHeight / 2 - (box.y + box.height / 2) * scale,
      },
      scale,
    );
    this.#fitted = { box, isWhole };
  }

  /** Scrolls as little as necessary to show a box. */
  reveal(box: Box): void {
    const { x, y, width, height } = this.seen;
    const margin = MARGIN / this.#scale;
    const shift = (from: number, to: number, low: number, high: number): number =>
      from < low + margin ? low + margin - from : to > high - margin ? high - margin - to : 0;
    const dx = shift(box.x, box.x + box.width, x, x + width);
    const dy = shift(box.y, box.y + box.height, y, y + height);
    if (dx !== 0 || dy !== 0) this.panBy(dx * this.#scale, dy * this.#scale);
  }

  centre({ x, y, width, height }: Box): void {
    const { clientWidth, clientHeight } = this.#surface;
    const [middle, centre] = [(x + width / 2) * this.#scale, (y + height / 2) * this.#scale];
    this.#set({ x: clientWidth / 2 - middle, y: clientHeight / 2 - centre }, this.#scale);
  }

  /** After the surface has another size: a fitted drawing is fitted again, any other keeps its middle. */
  resized(): void {
    const { clientWidth: width, clientHeight: height } = this.#surface;
    const before = this.#size;
    this.#size = { width, height };
    if (width === 0 || before.width === 0) return;
    if (this.#fitted !== undefined) this.fit(this.#fitted.box, this.#fitted);
    else {
      const { x, y } = this.#offset;
      this.#set({ x: x + (width - before.width) / 2, y: y + (height - before.height) / 2 }, this.#scale);
    }
  }

  #set(offset: Point, scale: number): void {
    this.#fitted = undefined;
    this.#offset = offset;
    this.#scale = scale;
    this.#world.setAttribute('transform', `translate(${offset.x} ${offset.y}) scale(${scale})`);
    this.#surface.classList.toggle('is-far', scale < FAR_SCALE);
    for (const listener of this.#listeners) listener();
  }
}

/** If neither the texts nor the large names of a whole flow would be legible, the names are shown, or only the start of the flow. */
function readableScale(whole: number, isWhole: boolean): number {
  if (whole >= DETAIL_SCALE) return whole;
  if (isWhole || whole >= READABLE_FAR_SCALE) return Math.min(whole, FAR_SCALE - 0.01);
  return READABLE_SCALE;
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
