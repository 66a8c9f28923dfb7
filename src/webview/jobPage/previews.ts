import { html } from '../canvas/dom/elements.ts';
import type { ShownPreview } from './messages.ts';

/** A picture or the head of a table, with its name as its caption. */
export function previewElement(preview: ShownPreview): HTMLElement {
  const { name } = preview;
  if (preview.type === 'picture')
    return html('figure', {}, html('img', { src: preview.data, alt: name }), html('figcaption', {}, name));
  const [head = [], ...rows] = preview.rows;
  const titles = html('tr', {}, ...head.map((cell) => html('th', { scope: 'col' }, cell)));
  const body = rows.map((row) => html('tr', {}, ...row.map((cell) => html('td', {}, cell))));
  const table = html('table', {}, html('caption', {}, name), html('thead', {}, titles), html('tbody', {}, ...body));
  // A wide table scrolls by itself, by keyboard too.
  return html('div', { class: 'table', tabindex: 0, role: 'group', 'aria-label': name }, table);
}
