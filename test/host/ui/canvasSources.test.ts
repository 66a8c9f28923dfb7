import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { FrameLocator, Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  closeAllEditors,
  openFile,
  reloadWorkbench,
  runCommand,
  shownNotifications,
  showNotification,
  webviewOf,
} from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const FLOW = `import { Flow, Node } from 'farwharf/agents';
class Only extends Node {}
const only = new Only();
export const flow = new Flow({ start: only, name: 'Single' }).connect(only, null);
`;

suite('the source of a canvas', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'sources',
      settings: { 'editor.minimap.enabled': false, 'breadcrumbs.enabled': false, 'explorer.confirmDelete': false },
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'package.json'), '{ "type": "module" }\n');
        for (const name of ['first', 'gone', 'stays']) await writeFile(join(path, `${name}.mts`), FLOW);
        for (const name of ['left', 'right']) {
          await mkdir(join(path, name));
          await writeFile(join(path, name, 'same.mts'), FLOW);
        }
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach(async (t) => {
    await screenshotOfFailure(window.page, t);
    await closeAllEditors(window.page);
  });

  const canvas = (): FrameLocator => webviewOf(window.page);
  const tab = (text: string): Locator => window.page.locator('.tabs-container .tab', { hasText: text });
  const entry = (text: string): Locator =>
    window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: text });
  const openCanvas = async (file: string): Promise<void> => {
    await openFile(window.page, file);
    await showCanvas();
  };
  const showCanvas = async (): Promise<void> => {
    await window.page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click();
    await canvas().locator('.node[data-path="only"]').waitFor();
  };
  const run = (): Promise<void> => canvas().getByRole('button', { name: 'Run', exact: true }).click();

  const done = (): Promise<void> => canvas().locator('.timeline .summary', { hasText: /Done/ }).waitFor();
  const runs = (): Locator => canvas().getByRole('combobox', { name: 'Runs of this flow' }).locator('option');

  test('can be renamed in the Explorer: its runs are listed as before, and the flow runs there', async () => {
    await openCanvas('first.mts');
    await run();
    await done();
    await entry('first.mts').click();
    await window.page.keyboard.press('F2');
    await window.page.locator('.explorer-folders-view input').fill('second.mts');
    await window.page.keyboard.press('Enter');
    await tab('Flow: second.mts').click();
    await runs().nth(1).waitFor({ state: 'attached' }); // the first option is no run
    await run();
    await runs().nth(2).waitFor({ state: 'attached' });
    await done();
  });

  test('is shown with its folder while the canvas of a file with the same name is open', async () => {
    const openSame = async (parent: string, index: number): Promise<void> => {
      await runCommand(window.page, 'View: Show Explorer');
      await entry(parent).click();
      await entry('same.mts').nth(index).dblclick();
      await showCanvas();
    };
    await openSame('left', 0);
    await tab('Flow: same.mts').waitFor();
    await openSame('right', 1);
    await tab('Flow: left/same.mts').waitFor();
    await tab('Flow: right/same.mts').locator('.action-label').click();
    await tab('Flow: same.mts').waitFor();
  });

  test('is said to no longer exist when its canvas is used after it was deleted', async () => {
    await openCanvas('gone.mts');
    await tab('gone.mts').first().locator('.action-label').click();
    await rm(join(folder, 'gone.mts'));
    await run();
    await showNotification(window.page, 'gone.mts no longer exists.');
    await window.page.keyboard.press('Escape');
  });

  test('takes its canvas along without a message when the window is loaded again after that', async () => {
    await openCanvas('stays.mts');
    await rm(join(folder, 'stays.mts'));
    await reloadWorkbench(window.page);
    await tab('Flow: stays.mts').waitFor({ state: 'detached' });
    assert.deepEqual(await shownNotifications(window.page), []);
  });
});
