import type { Shape } from './shape.ts';

/** Shapes that are seen in the same frames, one after the other. */
interface Group {
  readonly frames: string;
  readonly shapes: string[];
}

const SECONDS = 5; // what moves longer beside other content needs a way to stop it: https://www.w3.org/TR/WCAG22/#pause-stop-hide
const QUIET_ATTRIBUTES = 'font-family="var(--vscode-font-family)" stroke-width="1"';

/**
 * An SVG that shows one frame after the other in five seconds and stays on the last, which is also what a viewer without animations
 * shows. It has no styles and no scripts, which VS Code's pages for walkthroughs forbid.
 */
export function animatedDrawing(
  frames: readonly (readonly Shape[])[],
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const texts = frames.map((frame) => [...new Set(frame.map(elementOf))]);
  const seen = texts.map((frame) => new Set(frame));
  const groups: Group[] = [];
  for (const shape of inOrder(texts)) {
    const visible = seen.map((frame) => (frame.has(shape) ? '1' : '0')).join('');
    const last = groups.at(-1);
    if (last?.frames === visible) last.shapes.push(shape);
    else groups.push({ frames: visible, shapes: [shape] });
  }
  const body = groups.map((group) => groupElement(group)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" aria-hidden="true" ${QUIET_ATTRIBUTES}>
${body}
</svg>
`;
}

/** The shapes of all frames in an order that is that of each frame. */
function inOrder(frames: readonly (readonly string[])[]): readonly string[] {
  const merged: string[] = [];
  for (const frame of frames) {
    let place = 0;
    for (const shape of frame) {
      const known = merged.indexOf(shape);
      if (known === -1) merged.splice(place++, 0, shape);
      else place = Math.max(place, known + 1);
    }
  }
  return merged;
}

function groupElement({ frames, shapes }: Group): string {
  const step = SECONDS / frames.length;
  const atEnd = frames.at(-1);
  const changes = [...frames.matchAll(/0+|1+/g)]
    .filter(([run]) => run[0] !== atEnd)
    .map(({ 0: run, index }) => {
      const [begin, duration] = [index * step, run.length * step].map(
        (seconds) => `${Math.round(seconds * 100) / 100}s`,
      );
      const to = run[0] === '1' ? 'visible' : 'hidden';
      return `<set attributeName="visibility" to="${to}" begin="${begin}" dur="${duration}"/>`;
    });
  if (changes.length === 0) return shapes.join('\n');
  return `<g${atEnd === '1' ? '' : ' visibility="hidden"'}>${changes.join('')}\n${shapes.join('\n')}</g>`;
}

function elementOf({ tag, attributes, text }: Shape): string {
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${escape(String(value))}"`);
  return `<${tag}${list.join('')}${text === undefined ? '/>' : `>${escape(text)}</${tag}>`}`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
