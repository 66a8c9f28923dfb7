import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { FrameLocator, Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  closeAllEditors,
  openFile,
  pressOnRow,
  reloadWorkbench,
  runCommand,
  webviewOf,
} from '../../../scripts/vscode/workbench.ts';
import { RunHistory } from '../../../src/flows/run/history/runHistory.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const FLOW = `import * as z from 'zod';
import { Flow, Node, pause } from 'farwharf/agents';

class Review extends Node {
  post() {
    return pause({ question: 'Publish it?', choices: ['yes', 'no'] });
  }
  answer(shared, input) {
    shared.published = input;
    return input === 'yes' ? 'publish' : 'stop';
  }
}
class Count extends Node {
  post() {
    return pause({ question: 'How many copies?', input: z.int().min(1) });
  }
  answer(shared, input) {
    shared.copies = input;
  }
}
const [review, count] = [new Review(), new Count()];
export const flow = new Flow({ start: review, name: 'Publish' })
  .connect(review, count, 'publish')
  .connect(review, null, 'stop')
  .connect(count, null);
`;

suite('a flow that waits for an answer', () => {
  let window: Window;
  let folder = '';
  let file = '';
  let testCount = 0;

  before(async () => {
    window = await openWindow({
      name: 'asking',
      settings: { 'editor.minimap.enabled': false, 'breadcrumbs.enabled': false, 'farwharf.confirmSubmit': 'never' },
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'package.json'), '{ "type": "module" }\n');
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach(async (t) => {
    await screenshotOfFailure(window.page, t);
    await closeAllEditors(window.page);
  });

  const canvas = (): FrameLocator => webviewOf(window.page);
  const card = (): Locator => canvas().getByRole('form', { name: 'Question of the run' });
  const summary = (text: RegExp): Locator => canvas().locator('.timeline .summary', { hasText: text });
  const openCanvas = async (): Promise<void> => {
    testCount += 1;
    file = `publish${testCount}.mts`;
    await writeFile(join(folder, file), FLOW);
    await openFile(window.page, file);
    await window.page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click();
    await canvas().locator('.node[data-path="review"]').waitFor();
  };

  test('is answered on its canvas, with buttons and a checked field, also after a reload', async () => {
    await openCanvas();
    await canvas().getByRole('button', { name: 'Run', exact: true }).click();
    await card().getByRole('button', { name: 'yes' }).waitFor();
    await reloadWorkbench(window.page);
    await card().getByText('Publish it?').waitFor();
    await card().getByRole('button', { name: 'yes' }).click();
    const field = card().getByRole('textbox', { name: 'Answer' });
    await field.fill('0');
    await window.page.keyboard.press('Enter');
    await card().getByText('must be at least 1').waitFor();
    assert.equal(await field.inputValue(), '0');
    await field.fill('3');
    await window.page.keyboard.press('Enter');
    await summary(/Done/).waitFor();
    await card().waitFor({ state: 'hidden' });
  });

  test('says so when another window was faster', async () => {
    await openCanvas();
    await canvas().getByRole('button', { name: 'Run', exact: true }).click();
    await card().getByRole('button', { name: 'no' }).waitFor();
    const history = new RunHistory(join(window.scratch, 'home'));
    const record = await history.find(join(folder, file), 'last');
    await history.update({ ...record, answeredBy: 'another' });
    await card().getByRole('button', { name: 'no' }).click();
    await canvas().getByText('was answered already, by run another').waitFor();
    assert.equal((await history.list(join(folder, file))).length, 1);
  });

  test('as a job ends and is answered in the Jobs view, where a new job continues it', async () => {
    await openCanvas();
    await canvas().getByRole('button', { name: 'Submit as job' }).click();
    await runCommand(window.page, 'View: Show Farwharf');
    const row = (text: string): Locator =>
      window.page.locator('.part.sidebar .monaco-list-row', { hasText: file }).filter({ hasText: text }).first();
    await row('waits for an answer: Publish it?').waitFor();
    await pressOnRow(window.page, row('waits for an answer'), 'Answer Job');
    await window.page.locator('.quick-input-list .monaco-list-row', { hasText: 'yes' }).click();
    await row('waits for an answer: How many copies?').waitFor();
    await card().getByRole('textbox', { name: 'Answer' }).fill('2');
    await window.page.keyboard.press('Enter');
    await summary(/Done/).waitFor();
    await row('waits for an answer').waitFor({ state: 'detached' });
  });
});
