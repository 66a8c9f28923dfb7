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

suite('a canvas whose source is renamed or deleted', () => {
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
    await window.page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click();
    await canvas().locator('.node[data-path="only"]').waitFor();
  };
  const run = (): Promise<void> => canvas().getByRole('button', { name: 'Run', exact: true }).click();

  test('follows a rename in the Explorer, and runs the flow there', async () => {
    await openCanvas('first.mts');
    await entry('first.mts').click();
    await window.page.keyboard.press('F2');
    await window.page.locator('.explorer-folders-view input').fill('second.mts');
    await window.page.keyboard.press('Enter');
    await tab('Flow: second.mts').click();
    await run();
    await canvas().locator('.timeline .summary', { hasText: /Done/ }).waitFor();
  });

  test('says so when it is used after its file was deleted', async () => {
    await openCanvas('gone.mts');
    await tab('gone.mts').first().locator('.action-label').click();
    await rm(join(folder, 'gone.mts'));
    await run();
    await showNotification(window.page, 'gone.mts no longer exists.');
    await window.page.keyboard.press('Escape');
  });

  test('is closed without a message when the window is loaded again after that', async () => {
    await openCanvas('stays.mts');
    await rm(join(folder, 'stays.mts'));
    await reloadWorkbench(window.page);
    await tab('Flow: stays.mts').waitFor({ state: 'detached' });
    assert.deepEqual(await shownNotifications(window.page), []);
  });
});
