interface TextLine {
  readonly text: string;
  readonly box: DOMRect;
}

/** The lines of a text as they are laid out, without those that have only spaces. */
export function textLines(node: Text): readonly TextLine[] {
  const range = document.createRange();
  const lines: { text: string; box: DOMRect }[] = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+[\s\u00a0]*|[\s\u00a0]+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    if (box.width === 0) continue;
    const last = lines.at(-1);
    if (last !== undefined && Math.abs(last.box.top - box.top) < 3) {
      last.text += word;
      last.box = new DOMRect(last.box.left, last.box.top, box.right - last.box.left, last.box.height);
    } else lines.push({ text: word, box });
  }
  return lines.filter(({ text }) => text.replaceAll('\u00a0', ' ').trim() !== '');
}

/** Measures texts in the font of an element. */
export class Ruler {
  readonly #brush: CanvasRenderingContext2D;

  constructor() {
    const brush = document.createElement('canvas').getContext('2d');
    if (brush === null) throw new Error('This page cannot measure text.');
    this.#brush = brush;
  }

  /** The width of a text, and the part of a line's height that is above its base line. */
  measure(text: string, { fontStyle, fontWeight, fontSize, fontFamily }: CSSStyleDeclaration) {
    this.#brush.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    const { width, fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = this.#brush.measureText(text);
    return { width, rise: ascent / (ascent + descent) };
  }
}
