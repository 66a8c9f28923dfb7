import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { runCommand } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const EXAMPLE = join(import.meta.dirname, '../../../examples/quickstart');

suite('the sample folder', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'sample',
      settings: { 'files.simpleDialog.enable': true },
      prepare: async (path) => {
        folder = path;
        await mkdir(join(path, 'farwharf-sample'), { recursive: true });
      },
    });
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  test('the sample folder is created where one chooses, under a name that is free, and opened with the walkthrough', async () => {
    const opened = window.page.context().waitForEvent('page');
    await runCommand(window.page, 'Farwharf: Create Sample Folder');
    const dialog = window.page.locator('.quick-input-widget', { hasText: 'Create Sample Folder' });
    await dialog.locator('.monaco-list-row', { hasText: 'farwharf-sample' }).waitFor();
    await dialog.getByRole('button', { name: 'Create Here' }).click();
    const page = await opened;
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'train.mjs' }).waitFor();
    const files = (path: string): string[] => globSync('**/*.{mjs,txt,md}', { cwd: path }).toSorted();
    assert.deepEqual(files(join(folder, 'farwharf-sample2')), files(EXAMPLE));
    assert.deepEqual(files(join(folder, 'farwharf-sample')), []);
    await page.locator('.gettingStartedContainer', { hasText: 'Run the example' }).waitFor();
    await page.locator('.part.sidebar .welcome-view', { hasText: 'Submit Workspace' }).waitFor();
  });
});
