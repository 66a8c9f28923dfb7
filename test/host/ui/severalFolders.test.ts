import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, openFile, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const FOLDERS = ['alpha', 'beta'];
const EMPTY = 'gamma';
const DELETED = 'delta';

suite('a window with several folders', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'both.code-workspace',
      settings: { 'files.simpleDialog.enable': true },
      prepare: async (file, scratch) => {
        await writeFile(file, JSON.stringify({ folders: [DELETED, ...FOLDERS, EMPTY].map((path) => ({ path })) }));
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

  test('a job that is added by its ID gets its folder from a list', async () => {
    const { page } = window;
    await runCommand(page, 'Farwharf: Add Job by ID');
    await page.locator('.quick-input-widget input[placeholder="Select the folder for its results"]').waitFor();
    await choose(page, 'beta');
    await page.locator('.quick-input-widget', { hasText: 'Job ID' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('a new flow is offered in a folder that exists: the first one, or that of the editor', async () => {
    const { page } = window;
    const offered = async (folder: string): Promise<void> => {
      await runCommand(page, 'Farwharf: New Flow');
      await choose(page, 'Chat');
      await page.waitForFunction(
        `document.querySelector('.quick-input-widget input.input')?.value.endsWith('/${folder}/chat.mts')`,
      );
      await page.keyboard.press('Escape');
    };
    await offered('alpha');
    await openFile(page, 'beta.mjs');
    await offered('beta');
  });

  test('a folder without files is not submitted, and a message says why', async () => {
    const { page } = window;
    await runCommand(page, 'Farwharf: Submit Workspace');
    await choose(page, EMPTY);
    await showNotification(page, `The folder ${EMPTY} has no files, so there is nothing to submit.`);
  });
});
