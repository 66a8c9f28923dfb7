import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { runCommand, WAIT_TIMEOUT_MS, webviewOf } from '../../../scripts/vscode/workbench.ts';

const POLL_MS = 100;

/** Opens the canvas of the file in the editor, that of its first flow. */
export async function openCanvas(page: Page): Promise<void> {
  await runCommand(page, 'Farwharf: Open Canvas');
  await until('the canvas is there', async () => {
    await chooseFirstFlow(page);
    return webviewOf(page).locator('.node').first().isVisible();
  });
}

/** Runs the flow on the canvas by its button, until it is done. */
export async function runOnCanvas(page: Page): Promise<void> {
  await webviewOf(page).locator('.node').first().waitFor();
  await untilNextRunIsDone(page, /Done/, () => webviewOf(page).getByRole('button', { name: 'Run' }).first().click());
}

/** What people do with a flow after its first run: they pin it as a test, replay it, and submit it as a job. */
export async function pinReplayAndSubmit(page: Page, folder: string, file: string): Promise<void> {
  await webviewOf(page).getByRole('button', { name: 'Pin as test' }).click();
  await page.locator('.quick-input-widget', { hasText: 'Pin This Run' }).waitFor();
  await page.keyboard.press('Enter'); // the name that is offered
  const start = `${basename(file, '.mts')}.`;
  await until(`${file} has a test`, async () =>
    (await readdir(folder)).some((name) => name.startsWith(start) && name.endsWith('.flowtest.json')),
  );
  await untilNextRunIsDone(page, /Done/, async () => {
    await runCommand(page, 'View: Focus First Editor Group'); // the palette offers the command for the file, not for its canvas
    await runCommand(page, 'Farwharf: Replay Flow with Recorded Results');
  });
  await untilNextRunIsDone(page, /Done.*on this machine/, async () => {
    await webviewOf(page).getByRole('button', { name: 'Submit' }).click();
    await page.locator('.quick-input-widget', { hasText: 'will be sent' }).waitFor();
    await page.keyboard.press('Enter');
  });
}

/** Starts a run, and waits until it is shown and done. The one before it may be done too, and is not taken for it. */
async function untilNextRunIsDone(page: Page, summary: RegExp, start: () => Promise<void>): Promise<void> {
  const shown = await runOf(page).inputValue();
  await start();
  await until('another run is shown', async () => {
    await chooseFirstFlow(page);
    return !['', shown].includes(await runOf(page).inputValue());
  });
  await webviewOf(page).locator('.timeline .summary', { hasText: summary }).waitFor();
}

/** A command for the file asks which of its flows is meant, if it has several. */
async function chooseFirstFlow(page: Page): Promise<void> {
  const question = page.locator('.quick-input-widget input[placeholder="Which flow?"]');
  if (await question.isVisible()) await question.press('Enter');
}

function runOf(page: Page): Locator {
  return webviewOf(page).getByRole('combobox', { name: 'Runs of this flow' });
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WAIT_TIMEOUT_MS; !(await isSo()); await sleep(POLL_MS)) {
    assert.ok(Date.now() < end, `not so in time: ${what}`);
  }
}
