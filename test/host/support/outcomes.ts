import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { choose, WAIT_TIMEOUT_MS } from '../../../scripts/vscode/workbench.ts';

/** Must run `notifications.showList`. */
export const MESSAGES_KEY = 'Control+Alt+m';

/** Resolves once the window shows what a command must lead to. */
export type Outcome = (page: Page) => Promise<void>;

/** A list, a question or a file dialog, by its title or what it asks for, which the palette does not have. */
export function list(text: string): Outcome {
  return (page) => {
    const title = page.locator('.quick-input-widget .quick-input-title', { hasText: text });
    return title
      .or(page.locator(`.quick-input-widget input[placeholder*="${text}"]`))
      .first()
      .waitFor();
  };
}

/** A message in the notification center, and the button for what to do next. */
export function message(text: string, button?: string): Outcome {
  return async (page) => {
    const item = page.locator('.notifications-center .notification-list-item', { hasText: text }).first();
    // The center opens only when there is something in it, and a message takes a while to come.
    for (const deadline = Date.now() + WAIT_TIMEOUT_MS; !(await item.isVisible()); await sleep(200)) {
      assert.ok(Date.now() < deadline, `no message says: ${text}`);
      await page.keyboard.press(MESSAGES_KEY);
    }
    if (button !== undefined) await item.getByRole('button', { name: button }).waitFor();
  };
}

export function statusBar(text: string): Outcome {
  return (page) => page.locator('.statusbar-item', { hasText: text }).first().waitFor();
}

export function editor(title: string): Outcome {
  return (page) => page.locator('.tabs-container .tab', { hasText: title }).first().waitFor();
}

/** A text in the panel, where logs and output are. */
export function panel(text: string): Outcome {
  return (page) => page.locator('.part.panel', { hasText: text }).first().waitFor();
}

/** A view of the side bar, unfolded. */
export function view(title: string): Outcome {
  return (page) => page.locator('.part.sidebar .pane-header.expanded', { hasText: title }).first().waitFor();
}

/** A row of a view in the side bar. */
export function sideBar(text: string): Outcome {
  return (page) => page.locator('.part.sidebar .monaco-list-row', { hasText: text }).first().waitFor();
}

/** What follows a row of the list that the command shows. */
export function picked(title: string, row: string, next: Outcome): Outcome {
  return async (page) => {
    await list(title)(page);
    await choose(page, row);
    await next(page);
  };
}
