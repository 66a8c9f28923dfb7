import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameLocator, Locator, Page } from 'playwright-core';

const READY = '.monaco-workbench .part.statusbar .statusbar-item';
const PALETTE_STEP_MS = 5_000;
const POLL_MS = 100;

/**
 * How long anything in a window may take. On a busy machine a step that is usually done in a second can take a minute, and a wait
 * costs its time only where the condition never comes.
 */
export const WAIT_TIMEOUT_MS = 120_000;

/** Opens the workbench on a folder and waits until its parts are there; extensions may still be starting. */
export async function openWorkbench(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: 'commit' });
  await waitForWorkbench(page);
}

/** Loads the same window again. VS Code's own command, unlike the browser's button, keeps the window's last state. */
export async function reloadWorkbench(page: Page): Promise<void> {
  const loaded = page.waitForEvent('domcontentloaded', { timeout: WAIT_TIMEOUT_MS });
  await runCommand(page, 'Developer: Reload Window');
  await loaded;
  await waitForWorkbench(page);
}

async function waitForWorkbench(page: Page): Promise<void> {
  await page.locator(READY).first().waitFor({ timeout: WAIT_TIMEOUT_MS });
}

/**
 * Runs a command from the palette by its title.
 *
 * The palette's list is not refreshed when an extension's commands arrive after it was opened, so it is opened again
 * until the command is listed.
 */
export async function runCommand(page: Page, title: string): Promise<void> {
  await withPalette(page, title, (rows, timeout) => rows.filter({ hasText: title }).first().click({ timeout }));
}

/** Whether the palette offers a command whose title has these words. */
export async function offersCommand(page: Page, title: string): Promise<boolean> {
  const offered = await withPalette(page, title, async (rows, timeout) => {
    await rows.first().waitFor({ timeout });
    return (await rows.filter({ hasText: title }).count()) > 0;
  });
  await page.keyboard.press('Escape');
  return offered;
}

/** The titles of all commands of a category that the palette offers. */
export async function offeredCommands(page: Page, category: string): Promise<ReadonlySet<string>> {
  const prefix = `${category}: `;
  const titles = await withPalette(page, prefix, async (rows, timeout) => {
    const found = new Set<string>();
    await rows.filter({ hasText: prefix }).first().waitFor({ timeout });
    const last = page.locator(`[aria-posinset="${await rows.first().getAttribute('aria-setsize')}"]`);
    for (let isAll = false; !isAll; await page.keyboard.press('PageDown')) {
      isAll = (await rows.and(last).count()) > 0;
      for (const title of await rows.locator('.label-name').allTextContents())
        if (title.startsWith(prefix)) found.add(title.slice(prefix.length));
    }
    return found;
  });
  await page.keyboard.press('Escape');
  return titles;
}

/**
 * Opens the palette, types a title and hands over the rows that it lists. All of it is done again when it fails, since whatever
 * takes the focus meanwhile closes the palette.
 */
async function withPalette<T>(
  page: Page,
  title: string,
  use: (rows: Locator, timeout: number) => Promise<T>,
): Promise<T> {
  const input = page.locator('.quick-input-widget input.input');
  return repeatUntilDone(page, async (timeout) => {
    await page.keyboard.press('F1');
    await input.waitFor({ timeout });
    await input.fill(`>${title}`, { timeout });
    return use(page.locator('.quick-input-widget .monaco-list-row'), timeout);
  });
}

/**
 * Runs a command that opens a list, types into the list and waits for a row with this text. All of it is done again when no such row
 * comes: a webview that had the focus takes it back with a delay, and the list that loses it closes.
 */
export async function typeIntoList(page: Page, command: string, typed: string, row: string): Promise<void> {
  await repeatUntilDone(page, async (timeout) => {
    await runCommand(page, command);
    await page.locator('.quick-input-widget input.input').fill(typed, { timeout });
    await page.locator('.quick-input-list .monaco-list-row', { hasText: row }).first().waitFor({ timeout });
  });
}

/** Applies the quick fix with these words at the caret. Until it is listed, the list is opened again: new problems close it. */
export async function applyQuickFix(page: Page, text: string): Promise<void> {
  await repeatUntilDone(page, async (timeout) => {
    await page.keyboard.press('Control+.');
    const list = page.locator('.action-widget').first(); // the second, if there is one, is a submenu
    await list.hover({ timeout, force: true }); // until the pointer moves over it, VS Code 1.105 covers the list
    const rows = list.locator('.action-list-item, .monaco-list-row');
    await rows.filter({ hasText: text }).first().click({ timeout });
  });
}

/**
 * Presses a button of a row in a tree. VS Code shows it only while the pointer is over the row or the row is selected, and a list that
 * is drawn again moves its rows away from a pointer that rests, so the pointer follows the row.
 */
export async function pressOnRow(page: Page, row: Locator, button: string): Promise<void> {
  await repeatUntilDone(page, async (timeout) => {
    await row.hover({ timeout });
    await row.getByRole('button', { name: button }).click({ timeout });
  });
}

/** Clicks a row of a tree until what that opens is shown: a click is lost that comes while VS Code draws the row again. */
export async function openRow(page: Page, row: Locator, opened: Locator): Promise<void> {
  await repeatUntilDone(page, async (timeout) => {
    await row.click({ timeout });
    await opened.waitFor({ timeout });
  });
}

/** Follows a link in an editor or an output by Ctrl+click, which it ignores until it has noticed the pointer. */
export async function followLink(page: Page, link: Locator, opens: Locator): Promise<void> {
  await page.keyboard.down('Control');
  await link.hover();
  await page.locator('.detected-link-active').first().waitFor(); // colours divide a link
  await page.mouse.down();
  await page.mouse.up();
  await page.keyboard.up('Control');
  await opens.waitFor();
}

/**
 * Tries again until it succeeds, and closes what the failed attempt left open. Each attempt gets twice as long as the one before: what
 * the machine is too busy for in one gets enough time in a later one.
 */
async function repeatUntilDone<T>(page: Page, attempt: (timeout: number) => Promise<T>): Promise<T> {
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  for (let timeout = PALETTE_STEP_MS; ; timeout = Math.min(2 * timeout, WAIT_TIMEOUT_MS)) {
    try {
      return await attempt(timeout);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

/**
 * Opens the notification center until it is there and shows a message with these words. It closes itself when its last message goes, and
 * while it is empty a message that comes later does not open it.
 */
export async function showNotification(page: Page, text: string | RegExp): Promise<Locator> {
  const message = page.locator('.notifications-center .notification-list-item', { hasText: text }).first();
  await showUntilVisible(page, message);
  return message;
}

/** The messages in the notification center. */
export async function shownNotifications(page: Page): Promise<readonly string[]> {
  await showUntilVisible(page, page.locator('.notifications-center.visible'));
  return page.locator('.notification-list-item-message').allInnerTexts();
}

async function showUntilVisible(page: Page, wanted: Locator): Promise<void> {
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  for (;;) {
    await runCommand(page, 'Notifications: Show Notifications');
    try {
      await wanted.waitFor({ timeout: PALETTE_STEP_MS });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

/** Chooses a row of the quick pick that is open, or opens soon, by a part of its text. */
export async function choose(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
}

/**
 * Closes menus, panels and editors, and discards what is not saved in them. The command is repeated, because a list that closes
 * opens the editor again that was there before its preview, and may do so after the command.
 */
export async function closeAllEditors(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const tab = page.locator('.tabs-container .tab').first();
  const discard = page.locator('.monaco-dialog-box .monaco-button', { hasText: "Don't Save" });
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  do {
    await runCommand(page, 'View: Close All Editors');
    const repeatAt = Date.now() + PALETTE_STEP_MS;
    while ((await tab.isVisible()) && Date.now() < repeatAt) {
      if (await discard.isVisible()) await discard.click();
      await sleep(POLL_MS);
    }
    if (Date.now() > deadline) throw new Error('The editors did not close.');
  } while (await tab.isVisible());
}

/** Shows the Explorer in the sidebar, whatever was there before. */
async function showExplorer(page: Page): Promise<void> {
  await runCommand(page, 'View: Show Explorer');
  await page.locator('.explorer-folders-view').waitFor();
}

/** Opens a file of the folder from the Explorer, by its name. */
export async function openFile(page: Page, name: string): Promise<void> {
  await showExplorer(page);
  await runCommand(page, 'Refresh Explorer'); // a window that has just started can miss a file written meanwhile
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).dblclick();
}

/** The page of the webview that was opened last. */
export function webviewOf(page: Page): FrameLocator {
  return page.frameLocator('iframe.webview.ready').last().frameLocator('iframe#active-frame');
}

/** The address of a window on a folder or a `.code-workspace` file, with the workbench's own options. */
export function workbenchUrl(authority: string, path: string, payload: readonly [string, string][] = []): string {
  const query = new URLSearchParams(path.endsWith('.code-workspace') ? { workspace: path } : { folder: path });
  if (payload.length > 0) query.set('payload', JSON.stringify(payload));
  return `http://${authority}/?${query.toString()}`;
}

/** The address of a window without a folder. */
export function emptyWindowUrl(authority: string): string {
  return `http://${authority}/?ew=true`;
}
