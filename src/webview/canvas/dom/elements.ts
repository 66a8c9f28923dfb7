import { printableText } from '../../../core/text/printable.ts';

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const SVG = 'http://www.w3.org/2000/svg';

/** An HTML element. Attributes that are undefined or false are omitted; strings become text nodes. */
export function html<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element; see `html`. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly (Node | string)[]): E {
  setAttributes(element, attributes);
  element.append(...children.map((child) => (typeof child === 'string' ? printableText(child) : child)));
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : printableText(String(value)));
  }
}

/** Replaces the content of an element by a text. */
export function setText(element: Element, text: string): void {
  element.textContent = printableText(text);
}

/** Whether the focus is in a text field. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== 'range');
}
