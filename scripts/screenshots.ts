// Makes the README's pictures from the real thing: the quickstart as a job in the real workbench, in light and in dark.
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { formatBytes } from '../src/core/format.ts';
import { build } from './build.ts';
import { packExtension } from './package.ts';
import { openWindow, type Window } from './vscode/window.ts';
import { choose, runCommand } from './vscode/workbench.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PICTURES = join(ROOT, 'media', 'screenshots');
const MAX_BYTES = 300_000;
const THEMES = { light: 'Default Light Modern', dark: 'Default Dark Modern' } as const;
const SETTINGS = {
  'workbench.colorTheme': THEMES.light,
  'editor.minimap.enabled': false,
  'breadcrumbs.enabled': false,
  'window.commandCenter': false,
  'workbench.layoutControl.enabled': false,
};
const TRAINED_LINES = 6; // enough of the log to see that something happens
const JOB_TIMEOUT_MS = 120_000;

/** Takes one picture in each theme. */
async function picture({ page, settings }: Window, name: string): Promise<void> {
  for (const [kind, theme] of Object.entries(THEMES)) {
    await useTheme(page, settings, theme, kind === 'dark');
    const path = join(PICTURES, `${name}-${kind}.png`);
    await page.screenshot({ path });
    const { size } = await stat(path);
    process.stdout.write(`${path}: ${formatBytes(size)}\n`);
    if (size > MAX_BYTES) throw new Error(`${path} is over ${formatBytes(MAX_BYTES)}.`);
  }
}

async function useTheme(page: Page, settings: string, theme: string, isDark: boolean): Promise<void> {
  const values = JSON.parse(await readFile(settings, 'utf8')) as Record<string, unknown>;
  await writeFile(settings, JSON.stringify({ ...values, 'workbench.colorTheme': theme }, undefined, 2));
  await page.locator(isDark ? '.monaco-workbench.vs-dark' : '.monaco-workbench.vs').waitFor();
  await page.waitForTimeout(500); // colours fade
}

build();
await packExtension();
await mkdir(PICTURES, { recursive: true });
await using window = await openWindow({
  name: 'quickstart',
  settings: SETTINGS,
  prepare: (folder) => cp(join(ROOT, 'examples', 'quickstart'), folder, { recursive: true }),
});
const { page } = window;
const row = page.locator('.part.sidebar .monaco-list-row', { hasText: 'train.mjs' });

await page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
await runCommand(page, 'Farwharf: Submit Workspace');
await choose(page, 'train.mjs');
await page.locator('.quick-input-widget', { hasText: 'will be sent' }).waitFor();
await picture(window, 'preflight');
await choose(page, 'Submit');
await page.locator('.part.panel .view-line').nth(TRAINED_LINES).waitFor({ timeout: JOB_TIMEOUT_MS });
await row.filter({ hasText: 'running' }).first().waitFor();
await picture(window, 'running');
await row.filter({ hasText: 'succeeded' }).first().waitFor({ timeout: JOB_TIMEOUT_MS });
await row.first().click();
await row.getByRole('button', { name: 'Download Results' }).first().click();
await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'loss.png' }).waitFor();
await picture(window, 'results');
