import { type DrawnEdge, type DrawnNode, drawFlow, repetitionOf, titleOf } from './drawing.ts';
import { svgPath } from './edgeCurves.ts';
import { type FlowLayout, LABEL_FONT, NODE_SIZE } from './flowLayout.ts';
import { cutText, pixelWidth } from './pixelWidth.ts';

const MARGIN = 24;
const TEXT_INSET = 14;
const FONT = "'Segoe UI', -apple-system, 'Helvetica Neue', Arial, sans-serif";
const STYLE = `
  svg { --ink: #1f2328; --quiet: #636c76; --line: #818b98; --face: #ffffff; --page: #f6f8fa; --amber: #9a6700; --green: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6edf3; --quiet: #9198a1; --line: #6e7681; --face: #161b22; --page: #0d1117; --amber: #d29922; --green: #3fb950 }
  }
  text { font-family: ${FONT}; fill: var(--ink) }
  .page { fill: var(--page) } .box { fill: var(--face); stroke: var(--line) } .start { stroke: var(--green); stroke-width: 2 }
  .title { font-size: 13px; font-weight: 600 } .summary, .label { font-size: ${LABEL_FONT}px; fill: var(--quiet) }
  .line { fill: none; stroke: var(--line); stroke-width: 1.5 } .stub { stroke: var(--amber); stroke-dasharray: 4 3 }
  .halo { fill: var(--page) } .tip { fill: var(--line) } .end { fill: var(--line) }`;

/** The drawing as a standalone SVG file with fonts and colours, light or dark as the viewer prefers. */
export function graphToSvg(layout: FlowLayout): string {
  const { nodes, edges, bounds } = drawFlow(layout);
  const [x, y] = [bounds.x - MARGIN, bounds.y - MARGIN];
  const [width, height] = [bounds.width + 2 * MARGIN, bounds.height + 2 * MARGIN];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escaped(layout.graph.label)}</title>`,
    `<style>${STYLE}\n</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">' +
      '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect class="page" x="${x}" y="${y}" width="${width}" height="${height}"/>`,
    ...nodes.map(nodeToSvg),
    ...edges.map(edgeToSvg),
    ...edges.map(labelToSvg),
    '</svg>\n',
  ].join('\n');
}

function nodeToSvg({ node, box, isStart }: DrawnNode): string {
  const { x, y, width, height } = box;
  const room = NODE_SIZE.width - 2 * TEXT_INSET;
  const line = (kind: string, text: string, size: number, dy: number): string =>
    `<text class="${kind}" x="${x + TEXT_INSET}" y="${y + dy}">${escaped(cutText(text, size, room))}</text>`;
  return [
    `<g><title>${escaped([titleOf(node) + repetitionOf(node), node.summary].filter(Boolean).join(': '))}</title>`,
    `<rect class="box${isStart ? ' start' : ''}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`,
    line('title', titleOf(node) + repetitionOf(node), 13, node.summary === undefined ? 35 : 25),
    ...(node.summary === undefined ? [] : [line('summary', node.summary, LABEL_FONT, 43)]),
    '</g>',
  ].join('');
}

function edgeToSvg({ points, edge, tail }: DrawnEdge): string {
  const isStub = edge === undefined;
  const path = `<path class="line${isStub ? ' stub' : ''}" d="${svgPath(points)}"${tail ? '' : ' marker-end="url(#tip)"'}/>`;
  if (tail === undefined) return path;
  const { x, y, width, height } = tail;
  if (!isStub) return `${path}<rect class="end" x="${x}" y="${y}" width="${width}" height="${height}" rx="3"/>`;
  return `${path}<circle class="line stub" cx="${x + width / 2}" cy="${y + height / 2}" r="${width / 2 - 1}"/>`;
}

function labelToSvg({ text, label }: DrawnEdge): string {
  if (text === '') return '';
  const width = pixelWidth(text, LABEL_FONT) + 8;
  return (
    `<rect class="halo" x="${label.x - width / 2}" y="${label.y - 8}" width="${width}" height="16" rx="4"/>` +
    `<text class="label" x="${label.x}" y="${label.y + 4}" text-anchor="middle">${escaped(text)}</text>`
  );
}

// XML does not allow control characters, not even escaped.
function escaped(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd')
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
