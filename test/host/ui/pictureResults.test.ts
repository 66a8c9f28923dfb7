import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const SCRIPT = 'draw.mjs';
const PICTURE = 'plot.svg';

suite('a result that is a picture', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'pictures',
      prepare: async (folder) => {
        await mkdir(folder, { recursive: true });
        const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
        const text = `import { writeFileSync } from 'node:fs';\nwriteFileSync('${PICTURE}', '${picture}');\n`;
        await writeFile(join(folder, SCRIPT), text);
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const tab = (name: string): Locator => window.page.locator('.tabs-container .tab', { hasText: name });
  const groups = (): Promise<number> => window.page.locator('.editor-group-container').count();
  const download = async (): Promise<void> => {
    const succeeded = window.page
      .locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT })
      .filter({ hasText: 'succeeded' });
    await succeeded.first().click();
    await succeeded.first().getByRole('button', { name: 'Download Results' }).click();
  };

  test('is shown in the whole editor area if nothing is open there', async () => {
    await runCommand(window.page, 'View: Close All Editors');
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await choose(window.page, 'Submit');
    await showNotification(window.page, '1 new file');
    await download();
    await tab(PICTURE).waitFor();
    assert.equal(await groups(), 1);
  });

  test('that is downloaded again is shown in the Explorer, and the status bar says that nothing is new', async () => {
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Download Results');
    await choose(window.page, SCRIPT);
    await window.page.locator('.statusbar-item', { hasText: 'Nothing new: pictures already has' }).waitFor();
    await window.page.locator('.explorer-folders-view .monaco-list-row.selected', { hasText: PICTURE }).waitFor();
  });
});
