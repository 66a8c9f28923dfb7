import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand, WAIT_TIMEOUT_MS } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { writeTinyModel } from '../../service/support/tinyModel.ts';

const CLICK_MS = 10_000;

suite('searching by meaning in a window', () => {
  let window: Window;
  let modelFolder: string;

  before(async () => {
    window = await openWindow({
      name: 'harbour',
      prepare: async (folder, scratch) => {
        await mkdir(folder);
        await writeFile(join(folder, 'sea.md'), '# Harbour\n\nA boat at anchor.\n');
        await writeFile(join(folder, 'food.md'), '# Kitchen\n\nA loaf on the table.\n');
        modelFolder = join(scratch, 'models', 'tiny');
        await writeTinyModel(modelFolder);
      },
    });
    await window.page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await window.page.locator('.pane-header', { hasText: 'Index' }).click();
    await indexRow('Up to date').waitFor();
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const picture = (name: string): Promise<unknown> =>
    window.page.screenshot({ path: join(EVIDENCE, `${name.replaceAll(/\W+/g, '-')}.png`) });
  const list = (): Locator => window.page.locator('.quick-input-widget');
  const row = (text: string | RegExp): Locator => list().locator('.monaco-list-row', { hasText: text }).first();
  const indexRow = (text: string | RegExp): Locator =>
    window.page.locator('.pane', { hasText: 'Index' }).locator('.monaco-list-row', { hasText: text }).first();

  const searchFor = async (words: string): Promise<void> => {
    await runCommand(window.page, 'Farwharf: Search Folder');
    await list().locator('.quick-input-title', { hasText: 'Search Folder' }).waitFor();
    await list().locator('input.input').fill(words);
  };

  test('a model in a folder finds the same in other words, from when it was agreed to until it is switched off', async () => {
    await searchFor('ship');
    await row('No matches in').waitFor(); // the word is nowhere in the folder
    await window.page.keyboard.press('Escape');

    await runCommand(window.page, 'Farwharf: Search by Meaning');
    await row('A small model, downloaded once').waitFor();
    await picture('meaning choice');
    await choose(window.page, 'A model in a folder');
    await list().locator('.quick-input-title', { hasText: 'Folder of the model' }).waitFor();
    await row('..').waitFor(); // the dialog writes the open folder into its input first
    const dialog = window.page.locator('.monaco-dialog-box');
    // A click before the list has checked the path does nothing.
    const chooseFolder = async (): Promise<void> => {
      await list().locator('input.input').fill(`${modelFolder}/`, { timeout: CLICK_MS });
      const button = list().locator('a.monaco-button', { hasText: /Use This Model|OK/ });
      await button.first().click({ timeout: CLICK_MS });
    };
    for (const end = Date.now() + WAIT_TIMEOUT_MS; !(await dialog.isVisible()) && Date.now() < end; ) {
      if (await list().isVisible()) await chooseFolder().catch(() => {}); // it may be closing
      await dialog.waitFor({ timeout: CLICK_MS }).catch(() => {});
    }
    await dialog.getByText('The model then processes 2 chunks').waitFor();
    await picture('meaning question');
    await dialog.locator('.monaco-button', { hasText: 'Start' }).click();
    await indexRow(/Semantic ranking\s*on/).waitFor();
    await picture('meaning ready');

    await searchFor('ship');
    await row('sea.md').waitFor();
    await picture('meaning found');
    await window.page.keyboard.press('Escape');

    await runCommand(window.page, 'Farwharf: Search by Meaning');
    await choose(window.page, 'Keyword ranking only');
    await indexRow('Semantic ranking').waitFor({ state: 'detached' });
    await searchFor('ship');
    await row('No matches in').waitFor();
  });
});
