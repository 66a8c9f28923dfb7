import type { Locator, Page } from 'playwright-core';
import { choose, pressOnRow, runCommand, webviewOf } from '../vscode/workbench.ts';

/** What a scene needs. */
export interface Stage {
  readonly page: Page;
  /** A service with an account. */
  readonly service: { readonly url: string; readonly key: string };
  /** Keeps what the window shows now as the next frame. */
  readonly keep: () => Promise<void>;
}

/** Submits the example and watches it until it has succeeded. */
export async function runExample({ page, keep }: Stage): Promise<void> {
  await runCommand(page, 'View: Show Farwharf');
  await page.locator('.welcome-view', { hasText: 'Submit Workspace' }).waitFor();
  await keep();
  await runCommand(page, 'Farwharf: Submit Workspace');
  await choose(page, 'train.mjs');
  await page.locator('.quick-input-widget', { hasText: 'will be sent' }).waitFor();
  await keep();
  await page.keyboard.press('Enter');
  for (const left of ['20', '15', '10', '5', '0']) {
    await logLine(page, new RegExp(`\\s${left}\\ss`)).waitFor();
    await keep();
  }
  await row(page).filter({ hasText: 'succeeded' }).first().waitFor();
  await logLine(page, 'succeeded after').waitFor();
  await keep();
}

/** Looks at what a submit sends, and downloads what the job of the example made. */
export async function bringResultsHome({ page, keep }: Stage): Promise<void> {
  await runCommand(page, 'View: Show Explorer');
  await keep();
  await runCommand(page, 'Farwharf: Submit Workspace');
  const list = page.locator('.quick-input-widget');
  await list.getByText('will be sent').first().waitFor();
  await keep();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });
  await runCommand(page, 'View: Show Farwharf');
  const done = row(page).filter({ hasText: 'succeeded' }).first();
  await done.click();
  await keep();
  await pressOnRow(page, done, 'Download Results');
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'loss.png' }).waitFor();
  await webviewOf(page).locator('img').waitFor();
  await runCommand(page, 'View: Hide Panel');
  await keep();
}

/** Makes a flow from a template and runs it on its canvas. */
export async function runFlow({ page, keep }: Stage): Promise<void> {
  await runCommand(page, 'View: Close All Editors');
  await runCommand(page, 'Farwharf: New Flow');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Research Agent' }).first().waitFor();
  await keep();
  await choose(page, 'Research Agent');
  await page.locator('.quick-input-widget', { hasText: 'New Flow' }).waitFor();
  await page.keyboard.press('Enter'); // the name that is offered
  const canvas = webviewOf(page);
  await canvas.locator('.node').first().waitFor();
  await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
  await keep();
  await canvas.getByRole('button', { name: 'Run', exact: true }).first().click();
  await canvas.locator('.node.is-done').first().waitFor();
  await keep();
  await canvas.locator('.timeline .summary', { hasText: 'Done' }).waitFor();
  await keep();
}

/** Connects a service. */
export async function connect({ page, keep, service }: Stage): Promise<void> {
  await runCommand(page, 'View: Close All Editors');
  await runCommand(page, 'View: Show Farwharf');
  await runCommand(page, 'Farwharf: Select Host');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Connect a Service' }).first().waitFor();
  await keep();
  await choose(page, 'Connect a Service');
  for (const [question, text] of [
    ['Connect a service', service.url],
    ['Sign in to', service.key],
  ] as const) {
    await page.locator('.quick-input-widget', { hasText: question }).waitFor();
    await page.locator('.quick-input-widget input.input').fill(text);
    await keep();
    await page.keyboard.press('Enter');
  }
  await page.locator('.statusbar-item', { hasText: '312 cr' }).waitFor();
  await keep();
}

function row(page: Page): Locator {
  return page.locator('.part.sidebar .monaco-list-row', { hasText: 'train.mjs' });
}

function logLine(page: Page, text: string | RegExp): Locator {
  return page.locator('.part.panel .view-line', { hasText: text }).first();
}
