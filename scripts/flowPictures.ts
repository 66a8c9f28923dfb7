import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PICTURE_SETTINGS, takePicture } from './picture.ts';
import { openWindow } from './vscode/window.ts';
import { choose, runCommand } from './vscode/workbench.ts';

const AGENTS = resolve(import.meta.dirname, '..', 'examples', 'agents');
const RUN_TIMEOUT_MS = 60_000;
// The example is part of this project, whose packages it finds there; the editor looks for them in the folder that is opened.
const SETTINGS = { ...PICTURE_SETTINGS, 'typescript.validate.enable': false };

/** Runs the research agent with its canvas beside the source, and steps back in the run. */
export async function takeFlowPictures(kind: string, theme: string): Promise<void> {
  await using window = await openWindow({
    name: 'agents',
    settings: { ...SETTINGS, 'workbench.colorTheme': theme },
    prepare: (folder) => cp(AGENTS, join(folder), { recursive: true }),
  });
  const { page } = window;
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'research.mts' }).dblclick();
  await page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click({ timeout: RUN_TIMEOUT_MS });
  await choose(page, 'Research');
  const canvas = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  await canvas.locator('.node').first().waitFor();
  await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
  await canvas.getByRole('button', { name: 'Run' }).first().click();
  await canvas.locator('.timeline .summary', { hasText: 'Done' }).waitFor({ timeout: RUN_TIMEOUT_MS });
  await canvas.getByRole('button', { name: /Step back/ }).click();
  await canvas.getByRole('button', { name: /Step back/ }).click();
  await takePicture(page, `flow-${kind}`);
}
