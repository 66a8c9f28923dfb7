import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { formatBytes } from '../src/core/text/format.ts';

/** Where the README's pictures lie. */
export const PICTURES = join(resolve(import.meta.dirname, '..'), 'media', 'screenshots');
/** What a window shows for a picture: nothing that only distracts. */
export const PICTURE_SETTINGS = {
  'editor.minimap.enabled': false,
  'editor.wordWrap': 'on',
  'editor.guides.indentation': false,
  'breadcrumbs.enabled': false,
  'window.commandCenter': false,
  'workbench.layoutControl.enabled': false,
};

const MAX_BYTES = 300_000;
const SETTLE_MS = 800; // animations and hovers of the last click

/** @throws Error when the picture is too large for a README. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const path = join(PICTURES, `${name}.png`);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path });
  const { size } = await stat(path);
  process.stdout.write(`${path}: ${formatBytes(size)}\n`);
  if (size > MAX_BYTES) throw new Error(`${path} is over ${formatBytes(MAX_BYTES)}.`);
}
