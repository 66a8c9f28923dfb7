import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, openWorkbench, reloadWorkbench, runCommand } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import {
  FIRST_LINE,
  type GatedWorkspace,
  LAST_LINE,
  RESULT,
  SCRIPT,
  writeGatedWorkspace,
} from '../support/workspace.ts';

const FOLDER = 'quick start';

suite('the packed extension in a window', () => {
  let window: Window;
  let workspace: GatedWorkspace;

  before(async () => {
    window = await openWindow({
      name: FOLDER,
      prepare: async (folder, scratch) => {
        workspace = await writeGatedWorkspace(folder, join(scratch, 'gate'));
        await writeFile(join(folder, '.gitignore'), '# output\n*.log\n');
        await writeFile(join(folder, 'old.log'), 'of an earlier run');
      },
    });
  });
  after(async () => {
    await workspace.open(); // a job that a failed test left behind ends by itself
    await window[Symbol.asyncDispose]();
  });
  afterEach((t) => screenshotOfFailure(window.page, t));

  const row = (text: string | RegExp, page = window.page): Locator =>
    page.locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT }).filter({ hasText: text }).first();
  const logLine = (text: string): Locator => window.page.locator('.part.panel .view-line', { hasText: text }).first();

  test('the activity bar has its icon, and the view says what it is for', async () => {
    await window.page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await window.page.locator('.pane-header', { hasText: 'Jobs' }).waitFor();
    await window.page.locator('.welcome-view', { hasText: 'Submit Workspace' }).waitFor();
  });

  test('a submitted folder is followed through a reload and in a second window, and its results come home', async () => {
    await runCommand(window.page, 'View: Show Farwharf'); // the icon would hide the view where it is shown already
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await window.page.locator('.quick-input-widget', { hasText: `Submit ${FOLDER} to this machine` }).waitFor();
    await window.page.locator('.quick-input-widget', { hasText: '3 files' }).waitFor();
    await choose(window.page, 'Left out');
    await window.page.locator('.quick-input-widget', { hasText: 'this machine: left out' }).waitFor();
    await window.page.keyboard.press('Escape');
    await window.page.locator('.quick-input-widget', { hasText: `Submit ${SCRIPT}` }).waitFor();
    await choose(window.page, 'Show all files');
    const leftOut = window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'old.log' });
    await leftOut.filter({ hasText: 'ignored by git: *.log (.gitignore:2)' }).click();
    await leftOut.getByRole('button', { name: 'Open Rule' }).click();
    await window.page.locator('.editor-instance .view-line', { hasText: '*.log' }).waitFor();
    await leftOut.getByRole('checkbox').click();
    await window.page.locator('.part.sidebar .message', { hasText: '4 files' }).waitFor();
    await leftOut.click();
    await window.page.keyboard.press('Escape');
    await window.page.locator('.quick-input-widget', { hasText: '4 files' }).waitFor();
    await choose(window.page, 'Submit');

    // The job cannot end before its gate is opened, so this line arrives while it runs.
    await logLine(FIRST_LINE).waitFor();
    await row('running').waitFor();
    await window.page
      .getByLabel(/^Farwharf, 1 job runs/)
      .first()
      .waitFor();

    await reloadWorkbench(window.page);
    await logLine(FIRST_LINE).waitFor();
    await row('running').waitFor();

    const second = await window.page.context().newPage();
    await openWorkbench(second, window.page.url());
    await runCommand(second, 'View: Show Farwharf');
    await row('running', second).waitFor();
    await second.goto('about:blank');
    await second.close();

    await workspace.open();
    await logLine(LAST_LINE).waitFor();
    await row('succeeded').waitFor();

    await runCommand(window.page, 'Farwharf: Browse Results');
    await choose(window.page, SCRIPT);
    const result = window.page.locator('.part.sidebar .monaco-list-row', { hasText: RESULT });
    await result.click();
    await window.page.locator('.tabs-container .tab', { hasText: RESULT }).waitFor();
    await result.click();
    await window.page.keyboard.press('Escape');
    await result.waitFor({ state: 'hidden' });

    await row('succeeded').click();
    await row('succeeded').getByRole('button', { name: 'Download Results' }).click();
    await window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: RESULT }).waitFor();
  });
});
