import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { temporaryExamples } from '../../../scripts/trackedFiles.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, pressOnRow, runCommand } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const EXAMPLE = join(temporaryExamples(), 'quickstart');

suite('the sample folder', () => {
  let window: Window;
  let folder = '';
  let sample: Page;

  before(async () => {
    window = await openWindow({
      name: 'sample',
      settings: { 'files.simpleDialog.enable': true },
      prepare: async (path) => {
        folder = path;
        await mkdir(join(path, 'farwharf-sample'), { recursive: true });
      },
    });
    sample = await createSample(window.page);
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  test('the sample folder is created where one chooses, under a name that is free, and opened with the walkthrough', async () => {
    await sample.locator('.explorer-folders-view .monaco-list-row', { hasText: 'train.mjs' }).waitFor();
    const files = (path: string): string[] => globSync('**/*.{mjs,txt,md}', { cwd: path }).toSorted();
    assert.deepEqual(files(join(folder, 'farwharf-sample2')), files(EXAMPLE));
    assert.deepEqual(files(join(folder, 'farwharf-sample')), []);
    await sample.locator('.gettingStartedContainer', { hasText: 'Run the example' }).waitFor();
    await sample.locator('.part.sidebar .welcome-view', { hasText: 'Submit Workspace' }).waitFor();
  });

  test('results of the sample do not complete the step for the own folder, those of another folder do', async () => {
    const step = (page: Page, name: string): Locator => page.locator(`[data-done-step-id$="${name}"]`);
    await bringResultsHome(sample, join(folder, 'farwharf-sample2'), 'sample.mjs');
    await showTour(sample);
    await sample.locator('.complete').and(step(sample, 'example')).first().waitFor();
    assert.equal(await sample.locator('.complete').and(step(sample, 'submit')).count(), 0);
    // VS Code completes a step only if it has read the walkthrough before the step's context key is set.
    await showTour(window.page);
    await bringResultsHome(window.page, folder, 'own.mjs');
    await showTour(window.page);
    await window.page.locator('.complete').and(step(window.page, 'submit')).first().waitFor();
  });
});

/** Creates the sample folder beside a folder of its name, and returns the window that opens with it. */
async function createSample(page: Page): Promise<Page> {
  const opened = page.context().waitForEvent('page');
  await runCommand(page, 'Farwharf: Create Sample Folder');
  const dialog = page.locator('.quick-input-widget', { hasText: 'Create Sample Folder' });
  await dialog.locator('.monaco-list-row', { hasText: 'farwharf-sample' }).waitFor();
  await dialog.getByRole('button', { name: 'Create Here' }).click();
  return opened;
}

/** Submits a script that makes a file, and downloads it. The list has the jobs of the other window too, so each needs its own script. */
async function bringResultsHome(page: Page, folder: string, script: string): Promise<void> {
  await writeFile(
    join(folder, script),
    "import { writeFileSync } from 'node:fs';\nwriteFileSync('made.txt', 'made');\n",
  );
  await runCommand(page, 'View: Show Farwharf');
  await runCommand(page, 'Farwharf: Submit Workspace');
  await choose(page, script);
  await choose(page, 'Submit');
  const row = page.locator('.part.sidebar .monaco-list-row', { hasText: script });
  await pressOnRow(page, row.filter({ hasText: '1 new file' }).first(), 'Download Results');
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'made.txt' }).first().waitFor();
  await runCommand(page, 'View: Show Farwharf');
  await row.filter({ hasText: 'results downloaded' }).first().waitFor();
}

async function showTour(page: Page): Promise<void> {
  await runCommand(page, 'Welcome: Open Walkthrough...');
  await choose(page, 'First hour with Farwharf');
  await page.locator('.getting-started-step.expanded').first().waitFor();
}
