import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  choose,
  closeAllEditors,
  openFile,
  reloadWorkbench,
  runCommand,
  WAIT_TIMEOUT_MS,
} from '../../../scripts/vscode/workbench.ts';
import { CHECKOUT_FILES, NEEDLE, writeCheckout } from '../support/checkout.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { type ModelServer, placeOf, startModelServer } from '../support/modelServer.ts';

const OPEN_FILE = 'welcome.md';
const MANY_PLACES = 'burrows.md';
const BURROWS = ['north', 'east', 'south'];

suite('searching in a window', () => {
  let window: Window;
  let model: ModelServer;

  before(async () => {
    model = await startModelServer();
    window = await openWindow({
      name: 'large folder',
      prepare: async (folder) => {
        await writeCheckout(folder, CHECKOUT_FILES);
        await writeFile(join(folder, OPEN_FILE), '# Welcome\n\nRead me first.\n');
        await writeFile(join(folder, MANY_PLACES), BURROWS.map((name) => `# ${name}\n\nA wombat burrow.\n`).join('\n'));
      },
    });
    await showIndex();
    await indexRow('Up to date').waitFor();
  });
  after(async () => {
    await window[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });
  beforeEach(() => closeAllEditors(window.page));
  afterEach((t) => screenshotOfFailure(window.page, t));

  const list = (): Locator => window.page.locator('.quick-input-widget');
  const row = (text: string | RegExp): Locator => list().locator('.monaco-list-row', { hasText: text }).first();
  const tab = (text: string): Locator => window.page.locator('.tabs-container .tab', { hasText: text });
  const editorLine = (text: string | RegExp): Locator =>
    window.page.locator('.part.editor .view-line', { hasText: text }).first();
  const title = (text: string): Locator => list().locator('.quick-input-title', { hasText: text }).first();
  const indexRow = (text: string | RegExp): Locator =>
    window.page.locator('.pane', { hasText: 'Index' }).locator('.monaco-list-row', { hasText: text }).first();
  const showIndex = async (): Promise<void> => {
    await runCommand(window.page, 'View: Show Farwharf');
    const header = window.page.locator('.pane-header', { hasText: 'Index' });
    await header.waitFor();
    if ((await header.getAttribute('aria-expanded')) !== 'true') await header.click();
  };
  const openWelcome = async (): Promise<void> => {
    await openFile(window.page, OPEN_FILE);
    await editorLine('Read me first').waitFor();
  };
  const openSearch = async (): Promise<void> => {
    await runCommand(window.page, 'Farwharf: Search Folder');
    await title('Search Folder').waitFor();
  };
  const openNeedle = async (): Promise<void> => {
    await openSearch();
    await row('"exact words"').waitFor(); // until then, the rows of the search before are still there
    await window.page.keyboard.type(NEEDLE.words);
    await window.page.keyboard.press('Enter'); // mostly before the results
    await tab('needle.ts').waitFor();
    await window.page.locator('.statusbar-item', { hasText: /selected/ }).waitFor();
  };

  test('the Index view says what is indexed, and what is passed over and why', async () => {
    await showIndex();
    await indexRow(/Files\s*10,00\d/).waitFor();
    await indexRow('Skipped').click();
    await indexRow('Ignored by git').waitFor();
  });

  test('Search Folder finds while typing and shows the place in the editor, and Escape puts back what was there', async () => {
    await openWelcome();
    await window.page.keyboard.press('Control+K');
    await window.page.keyboard.press('g');
    await row('"exact words"').waitFor();
    await window.page.keyboard.type('porcup'); // half a word
    await row(NEEDLE.words).waitFor();
    await row(`${NEEDLE.path}:${NEEDLE.line}`).waitFor();
    await editorLine(NEEDLE.words).waitFor();
    await window.page.keyboard.press('Escape');
    await editorLine('Read me first').waitFor();
    await tab('needle.ts').waitFor({ state: 'detached' });
  });

  test('results that arrive after Escape open no editor', async () => {
    await openWelcome();
    await openSearch();
    await row('"exact words"').waitFor();
    await list().locator('input.input').fill(NEEDLE.words);
    await window.page.keyboard.press('Escape');
    await list().waitFor({ state: 'hidden' });
    await openSearch(); // takes longer than those results
    await window.page.keyboard.type('wombat burrow');
    await row('burrows.md').waitFor();
    await editorLine('wombat burrow').waitFor();
    await window.page.keyboard.press('Escape');
    await editorLine('Read me first').waitFor();
    await tab('burrows.md').waitFor({ state: 'detached' });
    assert.equal(await tab('needle.ts').count(), 0);
  });

  test('a file is one result, whose other places the keyboard lists and removes, and a button says why it is where it is', async () => {
    await openSearch();
    await window.page.keyboard.type('wombat burrow');
    await row(/burrows\.md:\d+.*2 more in this file/).waitFor();
    const places = list().locator('.monaco-list-row', { hasText: 'A wombat burrow.' });
    await places.first().waitFor(); // the list is drawn anew for each letter
    await places.nth(1).waitFor({ state: 'detached' });
    await window.page.keyboard.press('Control+E');
    await places.nth(2).waitFor();
    await window.page.screenshot({ path: join(EVIDENCE, 'search-other-places.png') });
    await window.page.keyboard.press('Control+E');
    await places.nth(1).waitFor({ state: 'detached' });
    const why = list().getByRole('button', { name: /how each result/ });
    await why.hover({ force: true }); // the hover of VS Code 1.105 covers the button until the pointer leaves what it was clicked on
    await why.click();
    await row(/\d keywords/).waitFor();
    await window.page.screenshot({ path: join(EVIDENCE, 'search-explained.png') });
    await window.page.keyboard.press('Escape');
  });

  test('Enter opens the place, which is then remembered as searched for', async () => {
    await openNeedle();
    await openSearch();
    await row(NEEDLE.words).waitFor();
  });

  test('the Index view lists recent searches and opens them, and the keyboard removes one or all', async () => {
    await openNeedle();
    await showIndex();
    await indexRow('Recent searches').click();
    await indexRow(NEEDLE.words).click();
    await row(`${NEEDLE.path}:${NEEDLE.line}`).waitFor();
    await window.page.keyboard.press('Escape');
    await openSearch();
    await row(NEEDLE.words).waitFor();
    await row('Clear recent searches').waitFor();
    await window.page.keyboard.press('ArrowDown');
    await window.page.keyboard.press('Enter');
    await row(NEEDLE.words).waitFor({ state: 'detached' });
    await row('"exact words"').waitFor();
    await window.page.keyboard.press('Escape');
    await indexRow('Recent searches').waitFor({ state: 'detached' });
    await openNeedle();
    await indexRow('Recent searches').waitFor();
    await runCommand(window.page, 'Farwharf: Clear Recent Searches');
    await indexRow('Recent searches').waitFor({ state: 'detached' });
  });

  test('Find Related Code lists what is about the same as the selection', async () => {
    await openNeedle();
    await editorLine(NEEDLE.words).click();
    const related = async (): Promise<string> => {
      await runCommand(window.page, 'Farwharf: Find Related Code');
      await title('Related to').waitFor();
      return title('Related to').innerText();
    };
    // Until the language server of TypeScript has started, nobody knows the function, and the lines around the cursor serve.
    const deadline = Date.now() + WAIT_TIMEOUT_MS;
    while (!(await related()).includes('countQuills')) {
      assert.ok(Date.now() < deadline, 'the function at the cursor is not named');
      await window.page.keyboard.press('Escape');
    }
  });

  test('a model in a cloud is selected by its address', async () => {
    await runCommand(window.page, 'Farwharf: Select Model');
    await title('Select a model').waitFor();
    await window.page.keyboard.type('azure');
    await choose(window.page, 'azure');
    await list().locator('.quick-input-message', { hasText: 'https://my-resource.openai.azure.com' }).waitFor();
    await window.page.keyboard.press('Escape');
    await list().waitFor({ state: 'hidden' });
  });

  test('without a model the first question leads to the choice of one, and nothing is sent', async () => {
    await runCommand(window.page, 'Farwharf: Ask Folder');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.type('What is a packet?');
    await window.page.keyboard.press('Enter');
    await title('Select a model').waitFor();
    await window.page.keyboard.type('Another URL'); // the list is longer than what is drawn
    await choose(window.page, 'Another URL');
    await list().locator('.quick-input-message', { hasText: 'Enter the URL of' }).waitFor();
    await window.page.keyboard.type(model.baseUrl);
    await window.page.keyboard.press('Enter');
    await choose(window.page, 'stub-1');
    await title(`Ask stub-1 at ${placeOf(model)}`).waitFor();
    assert.equal(model.requests.length, 0);
  });

  test('the index can be paused and resumed from its view', async () => {
    await showIndex();
    await runCommand(window.page, 'Farwharf: Pause Index');
    await indexRow('Paused').waitFor();
    await runCommand(window.page, 'Farwharf: Resume Index');
    await indexRow('Up to date').waitFor();
  });

  test('a reload keeps the index: nothing is read again', async () => {
    await reloadWorkbench(window.page);
    await openSearch();
    await window.page.keyboard.type(NEEDLE.words);
    await row(`${NEEDLE.path}:${NEEDLE.line}`).waitFor();
  });
});
