import type { Shape } from '../shape.ts';
import { Paints, type ThemeColors } from './paints.ts';
import { Ruler, textLines } from './textLines.ts';
import { type Bounds, clipOf, isCovered, isOverlay, opacityOf } from './visibility.ts';

interface DrawingOptions {
  readonly colors: ThemeColors;
  /** Lines in a box of 16 × 16 by the name of a codicon; other icons are left out. */
  readonly icons: Readonly<Record<string, string>>;
  /** Where the page is in the window. */
  readonly offset: { readonly x: number; readonly y: number };
}

interface Seen {
  readonly style: CSSStyleDeclaration;
  readonly clip: Bounds;
  readonly opacity: number;
}

// What moves by itself, belongs to the machine that the picture is made on, or is drawn over the rest.
const IGNORED =
  '.scrollbar, .minimap, .shadow, .scroll-decoration, .decorationsOverviewRuler, .monaco-aria-container, iframe, .sticky-widget, ' +
  '.statusbar-item.left, [id="status.workbench.keyboardLayout"], style, title, script';
const SIDES = ['top', 'right', 'bottom', 'left'] as const;
const ICON_SIZE = 16;

/** The texts, boxes, icons and lines that this page shows, from back to front. */
export function drawnShapes(options: DrawingOptions): readonly Shape[] {
  const drawing = new Drawing(options);
  drawing.visit(document.body);
  return [...drawing.base, ...drawing.front];
}

class Drawing {
  readonly base: Shape[] = [];
  readonly front: Shape[] = [];
  readonly #options: DrawingOptions;
  readonly #paints: Paints;
  readonly #ruler = new Ruler();

  constructor(options: DrawingOptions) {
    this.#options = options;
    this.#paints = new Paints(options.colors);
  }

  visit(element: Element): void {
    const style = getComputedStyle(element);
    const opacity = opacityOf(element);
    if (element.matches(IGNORED) || style.display === 'none' || opacity < 0.05) return;
    if (style.visibility === 'visible') this.#draw(element, { style, opacity, clip: clipOf(element) });
    for (const child of element.children) this.visit(child);
  }

  #draw(element: Element, seen: Seen): void {
    if (element instanceof SVGGeometryElement) this.#drawLine(element, seen);
    else if (element instanceof HTMLElement) {
      this.#drawBox(element, seen);
      this.#drawIcon(element, seen);
      if (element instanceof HTMLImageElement) this.#drawImage(element);
      if (element instanceof HTMLInputElement && element.type !== 'checkbox') this.#drawValue(element, seen);
    }
    for (const node of element.childNodes) if (node instanceof Text) this.#drawText(node, element, seen);
  }

  #add(element: Element, shape: Shape): void {
    (isOverlay(element) ? this.front : this.base).push(shape);
  }

  #place({ left, top, right, bottom }: Bounds) {
    const { x, y } = this.#options.offset;
    return { x: round(left + x), y: round(top + y), width: round(right - left), height: round(bottom - top) };
  }

  #drawBox(element: HTMLElement, { style, clip, opacity }: Seen): void {
    const box = intersection(element.getBoundingClientRect(), clip);
    const place = this.#place(box);
    if (place.width < 1 || place.height < 1) return;
    const how = { kind: 'boxes', opacity } as const;
    const borders = SIDES.filter((side) => parseFloat(style.getPropertyValue(`border-${side}-width`)) >= 0.5);
    const isOutlined = borders.length === SIDES.length;
    const fill = this.#paints.paint(element, 'fill', style.backgroundColor, how);
    const stroke = isOutlined ? this.#paints.paint(element, 'stroke', style.borderTopColor, how) : undefined;
    const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, place.height / 2);
    if (fill !== undefined || stroke !== undefined) {
      const rounded: Record<string, number> = radius > 0 ? { rx: radius } : {};
      this.#add(element, {
        tag: 'rect',
        attributes: { ...place, ...rounded, ...(fill ?? { fill: 'none' }), ...stroke },
      });
    }
    if (isOutlined) return;
    for (const side of borders) {
      const color = this.#paints.paint(element, 'fill', style.getPropertyValue(`border-${side}-color`), how);
      if (color !== undefined) this.#add(element, { tag: 'rect', attributes: { ...edgeOf(place, side), ...color } });
    }
  }

  #drawIcon(element: HTMLElement, { clip, opacity }: Seen): void {
    const { icons } = this.#options;
    const names = [...element.classList].map((name) => name.replace(/^codicon-/, ''));
    const d = names.map((name) => icons[name]).find((path) => path !== undefined);
    const before = getComputedStyle(element, '::before');
    if (d === undefined || before.content === 'none') return;
    const box = element.getBoundingClientRect();
    const [left, top] = [box.left + (box.width - ICON_SIZE) / 2, box.top + (box.height - ICON_SIZE) / 2];
    const [x, y] = [left + ICON_SIZE / 2, top + ICON_SIZE / 2];
    const isInside = x > clip.left && x < clip.right && y > clip.top && y < clip.bottom;
    const stroke = this.#paints.paint(element, 'stroke', before.color, { kind: 'texts', opacity });
    if (!isInside || stroke === undefined || isCovered(element, x, y)) return;
    const { offset } = this.#options;
    const transform = `translate(${round(left + offset.x)} ${round(top + offset.y)})`;
    this.#add(element, { tag: 'path', attributes: { d, transform, fill: 'none', ...stroke } });
  }

  #drawImage(element: HTMLImageElement): void {
    const place = this.#place(element.getBoundingClientRect());
    this.#add(element, { tag: 'image', attributes: { ...place, href: '' } });
  }

  #drawLine(element: SVGGeometryElement, { style, clip, opacity }: Seen): void {
    const matrix = element.getScreenCTM();
    const box = intersection(element.getBoundingClientRect(), clip);
    if (matrix === null || box.right < box.left || box.bottom < box.top) return;
    const fillOpacity = opacity * Number(style.fillOpacity);
    const fill = this.#paints.paint(element, 'fill', style.fill, { kind: 'boxes', opacity: fillOpacity });
    const strokeOpacity = opacity * Number(style.strokeOpacity);
    const stroke = this.#paints.paint(element, 'stroke', style.stroke, { kind: 'texts', opacity: strokeOpacity });
    if (fill === undefined && stroke === undefined) return;
    const { offset } = this.#options;
    const scales = [matrix.a, matrix.b, matrix.c, matrix.d].map((part) => Math.round(part * 1000) / 1000);
    const transform = `matrix(${scales.join(' ')} ${round(matrix.e + offset.x)} ${round(matrix.f + offset.y)})`;
    const width: Record<string, number> =
      stroke === undefined ? {} : { 'stroke-width': round(parseFloat(style.strokeWidth)) };
    const looks = { ...(fill ?? { fill: 'none' }), ...stroke, ...width, transform };
    if (element instanceof SVGRectElement) {
      const names = ['x', 'y', 'width', 'height', 'rx'];
      const sizes = Object.fromEntries(names.map((name) => [name, round(Number(element.getAttribute(name) ?? 0))]));
      this.#add(element, { tag: 'rect', attributes: { ...sizes, ...looks } });
    } else if (element instanceof SVGPathElement) {
      const d = (element.getAttribute('d') ?? '').replaceAll(/\d+\.\d+/g, (part) => String(round(Number(part))));
      this.#add(element, { tag: 'path', attributes: { d, ...looks } });
    }
  }

  #drawText(node: Text, element: Element, { style, clip, opacity }: Seen): void {
    const isSvg = element instanceof SVGGraphicsElement;
    const color = isSvg ? style.fill : style.color;
    const fill = this.#paints.paint(element, 'fill', color, { kind: 'texts', opacity });
    if (fill === undefined) return;
    const scale = isSvg ? (element.getScreenCTM()?.a ?? 1) : 1;
    const { offset } = this.#options;
    for (const { text, box } of textLines(node)) {
      const middle = box.top + box.height / 2;
      const isInside = middle > clip.top + 2 && middle < clip.bottom - 2 && box.left > clip.left - 4;
      const room = clip.right - box.left;
      if (!isInside || room < 8 || isCovered(element, box.left + 4, middle)) continue;
      const whole = text.replace(/[\s\u00a0]+$/, '');
      const cut = box.width <= room + 1 ? whole : `${whole.slice(0, (room / box.width) * whole.length - 1)}…`;
      const { width, rise } = this.#ruler.measure(cut, style);
      const attributes = {
        x: round(box.left + offset.x),
        y: round(box.top + offset.y + box.height * rise),
        'font-size': round(parseFloat(style.fontSize) * scale),
        textLength: round(Math.min(room, width * scale)), // whatever fonts there are where it is shown
        ...fill,
        ...(/mono|consol|courier|menlo/i.test(style.fontFamily)
          ? { 'font-family': 'var(--vscode-editor-font-family)' }
          : {}),
        ...(Number(style.fontWeight) >= 600 ? { 'font-weight': 600 } : {}),
      };
      this.#add(element, { tag: 'text', attributes, text: cut.replaceAll(' ', '\u00a0') });
    }
  }

  #drawValue(element: HTMLInputElement, { style }: Seen): void {
    const value = element.type === 'password' ? '•'.repeat(Math.min(24, element.value.length)) : element.value;
    const text = value === '' ? element.placeholder : value;
    const color = value === '' ? getComputedStyle(element, '::placeholder').color : style.color;
    const fill = this.#paints.paint(element, 'fill', color, { kind: 'texts', opacity: 1 });
    const box = element.getBoundingClientRect();
    const middle = box.top + box.height / 2;
    if (text === '' || fill === undefined || box.width < 20 || isCovered(element, box.left + 4, middle)) return;
    const { offset } = this.#options;
    const size = parseFloat(style.fontSize);
    const x = round(box.left + parseFloat(style.paddingLeft) + offset.x);
    this.#add(element, {
      tag: 'text',
      attributes: { x, y: round(middle + offset.y + size * 0.35), 'font-size': size, ...fill },
      text,
    });
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function intersection(one: Readonly<Bounds>, two: Readonly<Bounds>): Bounds {
  return {
    left: Math.max(one.left, two.left),
    top: Math.max(one.top, two.top),
    right: Math.min(one.right, two.right),
    bottom: Math.min(one.bottom, two.bottom),
  };
}

function edgeOf(
  place: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
  side: (typeof SIDES)[number],
) {
  if (side === 'top' || side === 'bottom') {
    return { ...place, y: side === 'top' ? place.y : place.y + place.height - 1, height: 1 };
  }
  return { ...place, x: side === 'left' ? place.x : place.x + place.width - 1, width: 1 };
}
