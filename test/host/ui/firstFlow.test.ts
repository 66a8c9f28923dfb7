import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { copyTracked, trackedFiles } from '../../../scripts/trackedFiles.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  choose,
  closeAllEditors,
  openFile,
  runCommand,
  showNotification,
  typeIntoList,
} from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { openCanvas, pinReplayAndSubmit, runOnCanvas } from '../support/flowRuns.ts';

const EXAMPLES = 'examples/agents';
/** The one that reads the most of its folder; the command line does the same with each of them. */
const EXAMPLE = 'askRepository.mts';
/** What it searches. */
const SEARCHED = ['src/remote/**', 'docs/**', 'README.md'];

const TEMPLATES = [
  { name: 'Chat', file: 'chat.mts' },
  { name: 'Research Agent', file: 'research.mts' },
  { name: 'Map and Reduce', file: 'mapReduce.mts' },
  { name: 'Ask a Folder', file: 'askFolder.mts' },
];

const KEYLESS = `import { Flow, LLMClient, Node } from 'farwharf/agents';
class Ask extends Node<object, unknown, string> {
  override exec() { return new LLMClient().ask('Where?'); }
  override execFallback() { return 'nowhere'; }
}
const ask = new Ask({ maxRetries: 5, wait: 600 });
export const keyless = new Flow({ start: ask }).connect(ask, null);
`;

suite('the first flow, in a folder with nothing installed', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'empty',
      settings: { 'files.simpleDialog.enable': true },
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'keyless.mts'), KEYLESS);
        copyTracked(trackedFiles([`${EXAMPLES}/**`, ...SEARCHED]), path);
      },
    });
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  for (const { name, file } of TEMPLATES) {
    test(`${name} is created without a red line, runs without a key, is pinned, replays, and runs as a job`, async () => {
      const { page } = window;
      await closeAllEditors(page);
      await runCommand(page, 'Farwharf: New Flow');
      await choose(page, name);
      await page.locator('.quick-input-widget input').waitFor();
      await page.keyboard.press('Enter'); // the name that is offered
      await runOnCanvas(page);
      const text = await readFile(join(folder, file), 'utf8');
      assert.match(text, /recordedModel\(/);
      // The server has checked the file once it shows what a word of the library means.
      await runCommand(page, 'View: Focus First Editor Group');
      await page.keyboard.press('Control+G');
      await page.locator('.quick-input-widget', { hasText: 'line' }).waitFor();
      await page.keyboard.type(`2:${(text.split('\n')[1]?.indexOf(' Flow,') ?? 0) + 3}`);
      await page.keyboard.press('Enter');
      await runCommand(page, 'Show or Focus Hover');
      await page.locator('.monaco-hover', { hasText: 'class Flow' }).waitFor();
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.part.editor .squiggly-error').count(), 0);
      await pinReplayAndSubmit(page, folder, file);
    });
  }

  test(`the example ${EXAMPLE} runs, is pinned, replays, and runs as a job`, async () => {
    const { page } = window;
    await closeAllEditors(page);
    await typeIntoList(page, 'Go to File', `${EXAMPLES}/${EXAMPLE}`, EXAMPLE);
    await page
      .locator('.quick-input-list .monaco-list-row', { hasText: EXAMPLE })
      .filter({ hasText: EXAMPLES })
      .click();
    await page.locator('.tabs-container .tab', { hasText: EXAMPLE }).waitFor();
    await openCanvas(page);
    await runOnCanvas(page);
    await pinReplayAndSubmit(page, join(folder, EXAMPLES), EXAMPLE);
  });

  test('a flow whose model has no key says so once and offers to select a model', async () => {
    const { page } = window;
    await closeAllEditors(page);
    await openFile(page, 'keyless.mts');
    await openCanvas(page);
    await runOnCanvas(page);
    const message = await showNotification(page, 'needs an API key');
    await message.getByRole('button', { name: 'Select Model' }).click();
    await page.locator('.quick-input-widget', { hasText: 'Select a model' }).waitFor();
  });
});
