import assert from 'node:assert/strict';
import { cp, glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameLocator, Locator } from 'playwright-core';
import { temporaryExamples } from '../../../scripts/trackedFiles.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { withoutRipgrep } from '../../../scripts/vscode/withoutRipgrep.ts';
import { shownNotifications, WAIT_TIMEOUT_MS, webviewOf } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const EXAMPLES = join(temporaryExamples(), 'agents');
const FILE = 'research.mts';

suite('a window of a VS Code without ripgrep', () => {
  let window: Window;

  before(async () => {
    const prepare = (folder: string): Promise<void> => cp(EXAMPLES, folder, { recursive: true });
    window = await openWindow({ name: 'flows', prepare, adapt: withoutRipgrep });
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const canvas = (): FrameLocator => webviewOf(window.page);
  const line = (text: string | RegExp): Locator =>
    window.page.locator('.part.editor .view-line', { hasText: text }).first();

  test('the canvas opens; that no flow tests were found is in the log, and in no message', async () => {
    await window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: FILE }).dblclick();
    await line('A research agent').click();
    const openCanvas = window.page.locator('.editor-actions a[aria-label^="Open Canvas"]').first();
    await openCanvas.click();
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Research' }).last().click();
    await canvas().locator('.node[data-path="decide"]').waitFor();
    await untilLogged('flow tests were not found');
    await line('A research agent').click(); // the canvas takes keys for itself
    assert.deepEqual(await shownNotifications(window.page), []);
  });

  /** Waits for a sentence in the log of the extension, which VS Code keeps in a file. */
  async function untilLogged(sentence: string): Promise<void> {
    const userData = dirname(dirname(window.settings));
    const deadline = Date.now() + WAIT_TIMEOUT_MS;
    for (;;) {
      const files = await Array.fromAsync(glob('logs/**/Farwharf*.log', { cwd: userData }));
      const texts = await Promise.all(files.map((file) => readFile(join(userData, file), 'utf8')));
      if (texts.some((text) => text.includes(sentence))) return;
      assert.ok(Date.now() < deadline, `"${sentence}" is not in the log: ${files.join(', ')}\n${texts.join('\n')}`);
      await sleep(100);
    }
  }
});
