import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, openWorkbench, reloadWorkbench, runCommand } from '../../../scripts/vscode/workbench.ts';
import {
  FIRST_LINE,
  type GatedWorkspace,
  LAST_LINE,
  RESULT,
  SCRIPT,
  writeGatedWorkspace,
} from '../support/workspace.ts';

const FOLDER = 'quick start';

// One story: each test goes on where the one before ended.
suite('the packed extension in a window', { timeout: 240_000 }, () => {
  let window: Window;
  let workspace: GatedWorkspace;

  before(async () => {
    window = await openWindow({
      name: FOLDER,
      prepare: async (folder, scratch) => {
        workspace = await writeGatedWorkspace(folder, join(scratch, 'gate'));
      },
    });
  });
  after(async () => {
    await workspace.open(); // a job that a failed test left behind ends by itself
    await window[Symbol.asyncDispose]();
  });
  afterEach(async (t) => {
    if ('passed' in t && t.passed !== true) {
      await window.page.screenshot({ path: join(EVIDENCE, `${t.name.replaceAll(/\W+/g, '-')}.png`) });
    }
  });

  const row = (text: string | RegExp, page = window.page): Locator =>
    page.locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT }).filter({ hasText: text }).first();
  const logLine = (text: string): Locator => window.page.locator('.part.panel .view-line', { hasText: text }).first();
  const status = (text: RegExp): Locator => window.page.locator('.statusbar-item', { hasText: text }).first();

  test('the activity bar has its icon, and the view says what it is for', async () => {
    await window.page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await window.page.locator('.pane-header', { hasText: 'Jobs' }).waitFor();
    await window.page.locator('.welcome-view', { hasText: 'Submit Workspace' }).waitFor();
  });

  test('Submit Workspace asks what to run and shows what will be sent before it is', async () => {
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await window.page.locator('.quick-input-widget', { hasText: `Submit ${FOLDER} to this machine` }).waitFor();
    await window.page.locator('.quick-input-widget', { hasText: '2 files' }).waitFor();
    await choose(window.page, 'Submit');
  });

  test('the job runs, and its first line is there before it ends', async () => {
    await logLine(FIRST_LINE).waitFor();
    await row('running').waitFor();
    await status(/1 · [\d.]+ cr/).waitFor();
  });

  test('a reload keeps the log and follows the job', async () => {
    await reloadWorkbench(window.page);
    await logLine(FIRST_LINE).waitFor();
    await row('running').waitFor();
  });

  test('a second window on the same folder shows the same job', async () => {
    const second = await window.page.context().newPage();
    await openWorkbench(second, window.page.url());
    await second.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await row('running', second).waitFor();
    await second.goto('about:blank');
    await second.close();
  });

  test('the job succeeds, with its last line in the log and its price in the status bar', async () => {
    await workspace.open();
    await logLine(LAST_LINE).waitFor();
    await row('succeeded').waitFor();
    await status(/^\s*(999\.9|1000) cr/).waitFor();
  });

  test('the results appear in the explorer', async () => {
    await row('succeeded').click();
    await row('succeeded').getByRole('button', { name: 'Download Results' }).click();
    await window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: RESULT }).waitFor();
  });
});
