import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const FOLDERS = ['alpha', 'beta'];
const EMPTY = 'gamma';

suite('a window with several folders', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'both.code-workspace',
      prepare: async (file, scratch) => {
        await writeFile(file, JSON.stringify({ folders: [...FOLDERS, EMPTY].map((path) => ({ path })) }));
        for (const name of FOLDERS) {
          await mkdir(join(scratch, name));
          await writeFile(join(scratch, name, `${name}.mjs`), '');
        }
        await mkdir(join(scratch, EMPTY, '.git'), { recursive: true });
      },
    });
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  for (const [title, next] of [
    ['Submit Workspace', 'beta.mjs'],
    ['Search by Meaning', 'A small model, downloaded once'],
  ] as const) {
    test(`the list of folders says what the folder is for: ${title}`, async () => {
      const { page } = window;
      await runCommand(page, `Farwharf: ${title}`);
      const list = page.locator('.quick-input-widget');
      await list.locator('.quick-input-title', { hasText: title }).waitFor();
      await choose(page, 'beta');
      await list.locator('.monaco-list-row', { hasText: next }).waitFor();
      await page.keyboard.press('Escape');
    });
  }

  test('a folder without files is not submitted, and a message says why', async () => {
    const { page } = window;
    await runCommand(page, 'Farwharf: Submit Workspace');
    await choose(page, EMPTY);
    await showNotification(page, `The folder ${EMPTY} has no files, so there is nothing to submit.`);
  });
});
