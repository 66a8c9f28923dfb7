import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

suite('a value in the settings', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'unusable host',
      // The host is a machine that was disconnected since.
      settings: { 'farwharf.host': 'gpu-box', 'farwharf.maxRuntime': -5, 'farwharf.flows.environment': { A: true } },
      prepare: async (folder) => {
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'train.mjs'), "console.log('done');\n");
      },
    });
    await runCommand(window.page, 'View: Show Farwharf');
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  test('that is no host is reported by a submit, with the name of the setting', async () => {
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await showNotification(
      window.page,
      /The setting farwharf.host cannot be used. No machine named gpu-box is connected/,
    );
  });

  test('that is no host is reported in the Jobs view and the status bar, which lead to another', async () => {
    const { page } = window;
    const welcome = page.locator('.part.sidebar .welcome-view-content', {
      hasText: 'The selected host cannot be used',
    });
    await welcome.getByRole('button', { name: 'Select Host' }).waitFor();
    await page.locator('.statusbar-item', { hasText: 'Select Host' }).click();
    await choose(page, /this machine/i);
    await page.locator('.part.sidebar .welcome-view-content', { hasText: 'Submit Workspace' }).waitFor();
    await page.locator('.statusbar-item', { hasText: 'Select Host' }).waitFor({ state: 'detached' });
  });

  test('that is no time limit counts as not set', async () => {
    const { page } = window;
    await runCommand(page, 'Farwharf: Submit Workspace');
    await choose(page, 'train.mjs');
    const limit = page.locator('.quick-input-list .monaco-list-row', { hasText: 'Time limit' });
    await limit.filter({ hasText: '1 h' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('that names a service which no one signed in to lists it, also after another host was selected', async () => {
    const { page } = window;
    await writeHost('https://gpu.example.org');
    const signIn = page.locator('.statusbar-item', { hasText: 'Sign In' });
    await signIn.waitFor();
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: 'gpu.example.org' });
    await runCommand(page, 'Farwharf: Select Host');
    await row.filter({ hasText: 'current' }).waitFor();
    await choose(page, /this machine/i);
    await signIn.waitFor({ state: 'detached' });
    await runCommand(page, 'Farwharf: Select Host');
    await row.waitFor();
    await page.keyboard.press('Escape');
  });

  async function writeHost(host: string): Promise<void> {
    const file = join(window.scratch, 'data', 'Machine', 'settings.json');
    const settings = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...settings, 'farwharf.host': host }));
  }
});
