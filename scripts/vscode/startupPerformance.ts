import type { Page } from 'playwright-core';
import { runCommand } from './workbench.ts';

const TIMEOUT_MS = 120_000;

/**
 * How long an extension took to load and to activate, from the table of *Developer: Startup Performance*; the page needs
 * the permission to read the clipboard.
 *
 * @throws Error when the extension is not active after two minutes.
 */
export async function readActivation(page: Page, extension: string): Promise<{ loadMs: number; activateMs: number }> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (Date.now() < deadline) {
    await runCommand(page, 'Developer: Startup Performance');
    await page.locator('.editor-instance .view-line').first().click();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+C');
    const text = await page.evaluate<string>('navigator.clipboard.readText()');
    const row = text.split('\n').find((line) => line.startsWith(`| ${extension} `));
    const [, , , load, call, finish] = row?.split('|') ?? [];
    if (finish !== undefined) return { loadMs: Number(load), activateMs: Number(call) + Number(finish) };
    await page.waitForTimeout(1_000);
  }
  throw new Error(`${extension} was not activated.`);
}
