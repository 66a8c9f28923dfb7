import type { Page } from 'playwright-core';

const READY = '.monaco-workbench .part.statusbar .statusbar-item';
const READY_TIMEOUT_MS = 90_000;
const PALETTE_TIMEOUT_MS = 60_000;
const PALETTE_STEP_MS = 3_000;

/** Opens the workbench on a folder and waits until its parts are there; extensions may still be starting. */
export async function openWorkbench(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: 'commit' });
  await waitForWorkbench(page);
}

/** Loads the same window again. VS Code's own command, unlike the browser's button, keeps the window's last state. */
export async function reloadWorkbench(page: Page): Promise<void> {
  const loaded = page.waitForEvent('domcontentloaded', { timeout: READY_TIMEOUT_MS });
  await runCommand(page, 'Developer: Reload Window');
  await loaded;
  await waitForWorkbench(page);
}

async function waitForWorkbench(page: Page): Promise<void> {
  await page.locator(READY).first().waitFor({ timeout: READY_TIMEOUT_MS });
}

/**
 * Runs a command from the palette by its title.
 *
 * The palette's list is not refreshed when an extension's commands arrive after it was opened, so it is opened again
 * until the command is there.
 */
export async function runCommand(page: Page, title: string): Promise<void> {
  const input = page.locator('.quick-input-widget input.input');
  const row = page.locator('.quick-input-widget .monaco-list-row', { hasText: title }).first();
  const deadline = Date.now() + PALETTE_TIMEOUT_MS;
  for (;;) {
    await page.keyboard.press('F1');
    try {
      await input.waitFor({ timeout: PALETTE_STEP_MS });
      await input.fill(`>${title}`);
      await row.click({ timeout: PALETTE_STEP_MS });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

/** Chooses a row of the quick pick that is open, or opens soon, by a part of its text. */
export async function choose(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
}

/** The address of a window on a folder or a `.code-workspace` file, with the workbench's own options. */
export function workbenchUrl(authority: string, path: string, payload: readonly [string, string][] = []): string {
  const query = new URLSearchParams(path.endsWith('.code-workspace') ? { workspace: path } : { folder: path });
  if (payload.length > 0) query.set('payload', JSON.stringify(payload));
  return `http://${authority}/?${query.toString()}`;
}
