import { join } from 'node:path';
import type { SuiteContext, TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';

/** Keeps a picture of the window when a test has failed; for `afterEach`. */
export async function screenshotOfFailure(page: Page, t: TestContext | SuiteContext): Promise<void> {
  if (!('passed' in t) || t.passed) return;
  await page.screenshot({ path: join(EVIDENCE, `${t.name.replaceAll(/\W+/g, '-')}.png`) });
}
