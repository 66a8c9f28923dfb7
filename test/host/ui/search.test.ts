import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, reloadWorkbench, runCommand } from '../../../scripts/vscode/workbench.ts';
import { CHECKOUT_FILES, NEEDLE, writeCheckout } from '../support/checkout.ts';
import { ANSWER_START, type ModelServer, startModelServer } from '../support/modelServer.ts';

const OPEN_FILE = 'welcome.md';
const BUILD_TIMEOUT_MS = 60_000;
const STEP_TIMEOUT_MS = 20_000;
const STILL_MS = 150;
const STILL_LOOKS = 5;

/** Waits until something stays where it is: lenses and the colouring of a text come late, and move what is below them. */
async function untilStill(element: Locator): Promise<void> {
  let before = '';
  for (let same = 0; same < STILL_LOOKS; ) {
    await sleep(STILL_MS);
    const now = JSON.stringify(await element.boundingBox());
    same = now === before ? same + 1 : 0;
    before = now;
  }
}

// One story: each test goes on where the one before ended.
suite('searching and asking in a window', { timeout: 400_000 }, () => {
  let window: Window;
  let model: ModelServer;

  before(async () => {
    model = await startModelServer();
    window = await openWindow({
      name: 'large folder',
      prepare: async (folder) => {
        await writeCheckout(folder, CHECKOUT_FILES);
        await writeFile(join(folder, OPEN_FILE), '# Welcome\n\nRead me first.\n');
      },
    });
    window.page.setDefaultTimeout(STEP_TIMEOUT_MS);
  });
  after(async () => {
    await window[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });
  afterEach(async (t) => {
    if ('passed' in t && t.passed !== true) {
      await window.page.screenshot({ path: join(EVIDENCE, `${t.name.replaceAll(/\W+/g, '-')}.png`) });
    }
  });

  const list = (): Locator => window.page.locator('.quick-input-widget');
  const row = (text: string | RegExp): Locator => list().locator('.monaco-list-row', { hasText: text }).first();
  const tab = (text: string): Locator => window.page.locator('.tabs-container .tab', { hasText: text });
  const editorLine = (text: string | RegExp): Locator =>
    window.page.locator('.part.editor .view-line', { hasText: text }).first();
  const title = (text: string): Locator => list().locator('.quick-input-title', { hasText: text }).first();
  const lens = (text: string): Locator => window.page.locator('.codelens-decoration a', { hasText: text }).first();
  const indexRow = (text: string | RegExp): Locator =>
    window.page.locator('.pane', { hasText: 'Index' }).locator('.monaco-list-row', { hasText: text }).first();

  test('the Index view says what is indexed, and what is passed over and why', async () => {
    await window.page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await window.page.locator('.pane-header', { hasText: 'Index' }).click();
    await indexRow('Up to date').waitFor({ timeout: BUILD_TIMEOUT_MS });
    await indexRow(/Files\s*10,00\d/).waitFor();
    await indexRow('Passed over').click();
    await indexRow('Ignored by git').waitFor();
  });

  test('Search Folder finds while typing, marks the words, and shows the place in the editor', async () => {
    await window.page.locator('.explorer-viewlet, .activitybar a[aria-label^="Explorer"]').first().click();
    await window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: OPEN_FILE }).dblclick();
    await editorLine('Read me first').waitFor();
    await window.page.keyboard.press('Control+Alt+F');
    await row('"exact words"').waitFor();
    await window.page.keyboard.type('porcup'); // half a word
    await row(NEEDLE.words).waitFor();
    await row(`${NEEDLE.path}:${NEEDLE.line}`).waitFor();
    await editorLine(NEEDLE.words).waitFor();
  });

  test('Escape puts back what the editor showed', async () => {
    await window.page.keyboard.press('Escape');
    await editorLine('Read me first').waitFor();
    await tab('needle.ts').waitFor({ state: 'detached' });
  });

  test('Enter opens the place, which is then remembered as searched for', async () => {
    await openSearch();
    await window.page.keyboard.type(NEEDLE.words);
    await row(NEEDLE.words).waitFor();
    await window.page.keyboard.press('Enter');
    await tab('needle.ts').waitFor();
    await window.page.locator('.statusbar-item', { hasText: /selected/ }).waitFor();
    await openSearch();
    await row(NEEDLE.words).waitFor();
    await window.page.keyboard.press('Escape');
  });

  test('Find Related Code lists what is about the same as the selection', async () => {
    await editorLine(NEEDLE.words).click();
    await runCommand(window.page, 'Farwharf: Find Related Code');
    await title('Related to countQuills').waitFor();
    await window.page.keyboard.press('Escape');
  });

  test('without a model the first question leads to the choice of one, and nothing is sent', async () => {
    await runCommand(window.page, 'Farwharf: Ask Folder');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.type('What is a packet?');
    await window.page.keyboard.press('Enter');
    await title('Which model answers?').waitFor();
    await choose(window.page, 'Another address');
    await list().locator('.quick-input-message', { hasText: 'The address of' }).waitFor();
    await window.page.keyboard.type(model.baseUrl);
    await window.page.keyboard.press('Enter');
    await choose(window.page, 'stub-1');
    await title(`Ask stub-1 at ${placeOf(model)}`).waitFor();
    await window.page.keyboard.press('Escape');
    assert.equal(model.requests.length, 0);
  });

  test('Ctrl+Enter asks a model: what is sent is shown first, and what is unticked stays here', async () => {
    await openSearch();
    await window.page.keyboard.type('quills session');
    await row(NEEDLE.path).waitFor();
    await list().locator('.monaco-list-row').nth(1).waitFor();
    await window.page.keyboard.press('Control+Enter');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.press('Control+A');
    await window.page.keyboard.type('How are the quills counted?');
    await window.page.keyboard.press('Enter');
    await list()
      .locator('.quick-input-title', { hasText: `Ask stub-1 at ${placeOf(model)}` })
      .waitFor();
    const boxes = list().locator('.monaco-list-row');
    const unticked = (await boxes.nth(1).locator('.label-name').first().innerText()).trim();
    await boxes.nth(1).locator('input[type=checkbox], .monaco-checkbox').click();
    await list().locator('.quick-input-count', { hasText: '16' }).waitFor();
    assert.equal(model.requests.length, 0, 'nothing is sent before it is confirmed');
    await list().getByRole('button', { name: 'OK' }).click();
    await editorLine(ANSWER_START).waitFor();
    const sent = model.requests[0]?.messages.map(({ content }) => content).join('\n') ?? '';
    assert.match(sent, /\[1\] billing\/needle\.ts:1-\d+/);
    assert.match(sent, /Question: How are the quills counted\?/);
    assert.equal(sent.includes(unticked), false, `${unticked} was not to be sent`);
    assert.equal(model.requests[0]?.headers.authorization, undefined);
  });

  test('a citation opens the place that it names; a path that was made up is no link', async () => {
    await lens('Ask Follow-Up').waitFor(); // the text moves no more
    const citation = window.page.locator('.part.editor .detected-link', { hasText: 'billing/needle.ts:1-' }).first();
    await citation.waitFor();
    assert.equal(await window.page.locator('.detected-link', { hasText: 'made' }).count(), 0);
    await untilStill(citation);
    await citation.click();
    await runCommand(window.page, 'Open Link');
    await editorLine(NEEDLE.words).waitFor();
    await window.page.locator('.statusbar-item', { hasText: /selected/ }).waitFor();
  });

  test('a follow-up goes on in the same document, with the conversation so far', async () => {
    await tab('How are the quills').click();
    await lens('Ask Follow-Up').click();
    await title('Ask Follow-Up').waitFor();
    await window.page.keyboard.type('And who verifies a ledger?');
    await window.page.keyboard.press('Enter');
    await title('Ask stub-1').waitFor();
    await window.page.keyboard.press('Enter');
    await editorLine('And who verifies').waitFor();
    await lens('Ask Follow-Up').waitFor();
    const roles = model.requests[1]?.messages.map(({ role }) => role);
    assert.deepEqual(roles, ['system', 'user', 'assistant', 'user']);
  });

  test('an answer can be stopped, and keeps what came', async () => {
    model.behaviour = { type: 'answer', wait: new Promise(() => {}) };
    await ask('What is a session?');
    await lens('Stop').click();
    await editorLine('Stopped').waitFor();
  });

  test('a refused key and a full quota are told in the document, with what to do', async () => {
    for (const [status, advice] of [
      [401, 'Check the key'],
      [429, 'the quota is used up'],
    ] as const) {
      model.behaviour = { type: 'refuse', status, error: { message: 'no', code: 'insufficient_quota' } };
      await ask(`What is a channel, ${status}?`);
      await editorLine(`HTTP ${status}`).waitFor();
      await editorLine(advice).waitFor();
      await lens('Try Again').waitFor();
    }
  });

  test('a question that nothing fits is not sent', async () => {
    const { length } = model.requests;
    await runCommand(window.page, 'Farwharf: Ask Folder');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.type('xylophone zeitgeist');
    await window.page.keyboard.press('Enter');
    await list().locator('.quick-input-message', { hasText: 'Nothing was sent' }).waitFor();
    await window.page.keyboard.press('Escape');
    assert.equal(model.requests.length, length);
  });

  test('the index can be paused and resumed from its view', async () => {
    await window.page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
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
    await window.page.keyboard.press('Escape');
  });

  async function openSearch(): Promise<void> {
    await runCommand(window.page, 'Farwharf: Search Folder');
    await title('Search Folder').waitFor();
  }

  /** Asks and sends what is ticked. */
  async function ask(question: string): Promise<void> {
    await runCommand(window.page, 'Farwharf: Ask Folder');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.type(question);
    await window.page.keyboard.press('Enter');
    await title('Ask stub-1').waitFor();
    await window.page.keyboard.press('Enter');
  }
});

function placeOf({ baseUrl }: ModelServer): string {
  return `this machine (${new URL(baseUrl).host})`;
}
