import { join } from 'node:path';
import type { SuiteContext, TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';

/** The parts of the workbench whose text says what a person would have seen: the sidebar, the lists, the messages, the dialogs. */
const PARTS = '.part.sidebar, .quick-input-widget, .notifications-toasts, .monaco-dialog-box';

/** Keeps a picture of the window when a test has failed, and prints its texts, since a picture cannot be read from a log; for `afterEach`. */
export async function screenshotOfFailure(page: Page, t: TestContext | SuiteContext): Promise<void> {
  if (!('passed' in t) || t.passed) return;
  for (const text of await page.locator(PARTS).filter({ visible: true }).allInnerTexts())
    if (text.trim() !== '') process.stderr.write(`${text}\n`);
  await page.screenshot({ path: join(EVIDENCE, `${t.name.replaceAll(/\W+/g, '-')}.png`) });
}
