import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { closeAllEditors, offersCommand, openFile, runCommand } from '../../../scripts/vscode/workbench.ts';
import { NEEDLE, writeCheckout } from '../support/checkout.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { ANSWER_START, type ModelServer, placeOf, startModelServer } from '../support/modelServer.ts';

const FILES = 200;
const STILL_MS = 150;
const STILL_LOOKS = 5;
const QUESTION = 'How are the quills counted?';

/** Waits until an element stays where it is: code lenses and colouring arrive late and move what is below them. */
async function untilStill(element: Locator): Promise<void> {
  let before = '';
  for (let same = 0; same < STILL_LOOKS; ) {
    await sleep(STILL_MS);
    const now = JSON.stringify(await element.boundingBox());
    same = now === before ? same + 1 : 0;
    before = now;
  }
}

suite('asking a folder in a window', () => {
  let window: Window;
  let model: ModelServer;

  before(async () => {
    model = await startModelServer();
    window = await openWindow({
      name: 'folder to ask',
      settings: { 'farwharf.model.name': 'stub-1', 'farwharf.model.baseUrl': model.baseUrl },
      prepare: async (folder) => {
        await writeCheckout(folder, FILES);
        await writeFile(join(folder, 'README.md'), '# Read me\n');
      },
    });
  });
  after(async () => {
    await window[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await closeAllEditors(window.page);
    model.requests.length = 0;
    model.behaviour = { type: 'answer' };
  });
  afterEach((t) => screenshotOfFailure(window.page, t));

  const list = (): Locator => window.page.locator('.quick-input-widget');
  const title = (text: string): Locator => list().locator('.quick-input-title', { hasText: text }).first();
  const editorLine = (text: string | RegExp): Locator =>
    window.page.locator('.part.editor .view-line', { hasText: text }).first();
  const lens = (text: string): Locator => window.page.locator('.codelens-decoration a', { hasText: text }).first();

  /** Types a question into Ask Folder, up to the list of what would be sent. */
  const prepare = async (question: string): Promise<void> => {
    await runCommand(window.page, 'Farwharf: Ask Folder');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.type(question);
    await window.page.keyboard.press('Enter');
    await title('Ask stub-1').waitFor();
  };
  /** Sends what is ticked. */
  const ask = async (question: string): Promise<void> => {
    await prepare(question);
    await window.page.keyboard.press('Enter');
  };
  /** Asks, and waits until the whole answer is there. */
  const askToTheEnd = async (question: string): Promise<void> => {
    await ask(question);
    await editorLine(ANSWER_START).waitFor();
    await lens('Ask Follow-Up').waitFor();
  };

  test('Ctrl+Enter asks a model: what is sent is shown first, and what is unticked stays here', async () => {
    await runCommand(window.page, 'Farwharf: Search Folder');
    await title('Search Folder').waitFor();
    await window.page.keyboard.type('quills session');
    await list().locator('.monaco-list-row', { hasText: NEEDLE.path }).first().waitFor();
    await list().locator('.monaco-list-row').nth(1).waitFor();
    await window.page.keyboard.press('Control+Enter');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.press('Control+A');
    await window.page.keyboard.type(QUESTION);
    await window.page.keyboard.press('Enter');
    await title(`Ask stub-1 at ${placeOf(model)}`).waitFor();
    const boxes = list().locator('.monaco-list-row');
    const unticked = (await boxes.nth(1).locator('.label-name').first().innerText()).trim();
    const selected = list().locator('.quick-input-count');
    const before = Number.parseInt(await selected.innerText(), 10);
    await boxes.nth(1).locator('input[type=checkbox], .monaco-checkbox').click();
    await selected.filter({ hasText: String(before - 1) }).waitFor();
    assert.equal(model.requests.length, 0, 'nothing is sent before it is confirmed');
    await list().getByRole('button', { name: 'OK' }).click();
    await editorLine(ANSWER_START).waitFor();
    const sent = model.requests[0]?.messages.map(({ content }) => content).join('\n') ?? '';
    assert.match(sent, /\[1\] billing\/needle\.ts:1-\d+/);
    assert.ok(sent.includes(`Question: ${QUESTION}`), sent);
    assert.equal(sent.includes(unticked), false, `${unticked} was not to be sent`);
    assert.equal(model.requests[0]?.headers.authorization, undefined);
  });

  test('a citation opens the place that it names; a path that was made up is no link', async () => {
    await askToTheEnd(QUESTION);
    const citation = window.page.locator('.part.editor .detected-link', { hasText: 'billing/needle.ts:1-' }).first();
    await citation.waitFor();
    assert.equal(await window.page.locator('.detected-link', { hasText: 'made' }).count(), 0);
    await untilStill(citation);
    await citation.click();
    await runCommand(window.page, 'Open Link');
    await editorLine(NEEDLE.words).waitFor();
    await window.page.locator('.statusbar-item', { hasText: /selected/ }).waitFor();
  });

  test('an answer with remote images loads none: VS Code renders Markdown, and an answer is none', async () => {
    const answer = `${ANSWER_START}. ![seen](https://images.example.org/pixel.png?secret) <img src="https://images.example.org/2">`;
    model.behaviour = { type: 'answer', say: () => answer };
    await openFile(window.page, 'README.md');
    await editorLine('Read me').click();
    assert.equal(
      await offersCommand(window.page, 'Markdown: Open Preview'),
      true,
      'for a file of the folder it is there',
    );
    await askToTheEnd(QUESTION);
    await editorLine(ANSWER_START).click();
    assert.equal(await offersCommand(window.page, 'Markdown: Open Preview'), false);
  });

  test('a follow-up continues in the same document, with the conversation so far', async () => {
    await askToTheEnd(QUESTION);
    await lens('Ask Follow-Up').click();
    await title('Ask Follow-Up').waitFor();
    await window.page.keyboard.type('And who verifies a ledger?');
    await window.page.keyboard.press('Enter');
    await title('Ask stub-1').waitFor();
    await window.page.keyboard.press('Enter');
    await editorLine('And who verifies').waitFor();
    while (model.requests.length < 2) await sleep(20);
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

  for (const [status, advice] of [
    [401, 'Check the key'],
    [429, 'the quota is used up'],
  ] as const) {
    test(`HTTP ${status} is shown in the document, with what to do`, async () => {
      model.behaviour = { type: 'refuse', status, error: { message: 'no', code: 'insufficient_quota' } };
      await ask('What is a channel?');
      await editorLine(`HTTP ${status}`).waitFor();
      await editorLine(advice).waitFor();
      await lens('Try Again').waitFor();
    });
  }

  test('a question that nothing fits is not sent', async () => {
    await runCommand(window.page, 'Farwharf: Ask Folder');
    await title('Ask Folder').waitFor();
    await window.page.keyboard.type('xylophone zeitgeist');
    await window.page.keyboard.press('Enter');
    await list().locator('.quick-input-message', { hasText: 'Nothing was sent' }).waitFor();
    assert.equal(model.requests.length, 0);
  });
});
