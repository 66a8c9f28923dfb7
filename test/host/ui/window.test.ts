import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { type GatedWorkspace, writeGatedWorkspace } from '../support/workspace.ts';

suite('the packed extension in a window', { timeout: 240_000 }, () => {
  let window: Window;
  let workspace: GatedWorkspace;

  before(async () => {
    window = await openWindow({
      name: 'quick start',
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

  test('the activity bar has its icon, and the view says what it is for', async () => {
    await window.page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await window.page.locator('.composite.title', { hasText: 'Jobs' }).waitFor();
    await window.page.locator('.welcome-view', { hasText: 'Submit Workspace' }).waitFor();
  });
});
