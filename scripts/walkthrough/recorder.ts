import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { Frame, Page } from 'playwright-core';
import type { Shape } from './shape.ts';

const [IN_PAGE] = buildSync({
  entryPoints: [join(import.meta.dirname, 'page', 'drawnShapes.ts')],
  bundle: true,
  format: 'iife',
  globalName: 'page',
  write: false,
}).outputFiles;
const JPEG_QUALITY = 35; // of the picture that a job makes, which is shown small
const COLORS = {
  texts: [
    'foreground',
    'descriptionForeground',
    'editor-foreground',
    'textLink-foreground',
    'errorForeground',
    'list-activeSelectionForeground',
    'quickInputList-focusForeground',
    'button-foreground',
    'input-placeholderForeground',
    'testing-iconPassed',
    'progressBar-background',
    'charts-green',
    'charts-blue',
    'charts-yellow',
    'charts-orange',
    'charts-purple',
    'symbolIcon-classForeground',
    'editorLineNumber-foreground',
  ],
  boxes: [
    'editor-background',
    'sideBar-background',
    'panel-background',
    'statusBar-background',
    'quickInput-background',
    'quickInputList-focusBackground',
    'list-activeSelectionBackground',
    'list-inactiveSelectionBackground',
    'list-hoverBackground',
    'input-background',
    'button-background',
    'badge-background',
    'focusBorder',
    'editorWidget-background',
    'widget-border',
    'panel-border',
    'charts-blue',
    'charts-green',
    'foreground',
  ],
};
const ICONS = {
  'chevron-down': 'M3.5 6L8 10.5 12.5 6',
  'chevron-right': 'M6 3.500L10.5 8 6 12.5',
  'view-pane-container-expanded': 'M3.5 6L8 10.5 12.5 6',
  'view-pane-container-collapsed': 'M6 3.5L10.5 8 6 12.5',
  'tree-item-expanded': 'M3.5 6L8 10.5 12.5 6',
  pass: 'M8 1.500a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13M5 8l2.2 2.200L11 6',
  'pass-filled': 'M8 1.500a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13M5 8l2.2 2.200L11 6',
  loading: 'M8 2a6 6 0 1 1-6 6',
  sync: 'M8 2a6 6 0 1 1-6 6',
  clock: 'M8 1.500a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13M8 4v4l3 2',
  add: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  rocket: 'M3 13l3-3M6 10C7 5 9.5 3 13.5 2.5 13 6.5 11 9 6 10z',
  play: 'M4.5 3l8 5-8 5z',
};

/** The shapes that a window shows now, with those of the webview in it. */
export async function readShapes(page: Page): Promise<readonly Shape[]> {
  const shapes = await read(page.mainFrame(), { x: 0, y: 0 });
  const webview = page.locator('iframe.webview.ready').last();
  const box = (await webview.isVisible()) ? await webview.boundingBox() : null;
  if (box === null) return shapes;
  const element = await webview.contentFrame().locator('iframe#active-frame').elementHandle();
  const inner = await element?.contentFrame();
  return inner ? [...shapes, ...(await read(inner, box))] : shapes;
}

async function read(frame: Frame, { x, y }: { readonly x: number; readonly y: number }): Promise<readonly Shape[]> {
  const options = JSON.stringify({ colors: COLORS, icons: ICONS, offset: { x, y } });
  const shapes: readonly Shape[] = await frame.evaluate(
    `(() => { ${IN_PAGE?.text ?? ''}; return page.drawnShapes(${options}); })()`,
  );
  if (!shapes.some(({ tag }) => tag === 'image')) return shapes;
  const picture = await frame.locator('img').first().screenshot({ type: 'jpeg', quality: JPEG_QUALITY });
  const href = `data:image/jpeg;base64,${picture.toString('base64')}`;
  return shapes.map((shape) =>
    shape.tag === 'image' ? { ...shape, attributes: { ...shape.attributes, href } } : shape,
  );
}
