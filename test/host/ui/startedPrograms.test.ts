import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, closeAllEditors, openFile, runCommand } from '../../../scripts/vscode/workbench.ts';
import { notebook, notebooksAreMissing } from '../../service/support/notebooks.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const missing = await notebooksAreMissing();

suite('what a job runs besides scripts', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'programs',
      settings: { 'workbench.editorAssociations': { '*.ipynb': 'jupyter-notebook' } },
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'names.txt'), 'ada\nben\ncy\n');
        await writeFile(join(path, 'analysis.ipynb'), notebook(['print("one")', '[i * i for i in range(5)]', '1 / 0']));
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  beforeEach(() => closeAllEditors(window.page));
  afterEach((t) => screenshotOfFailure(window.page, t));

  const list = (text: string): Locator => window.page.locator('.quick-input-widget', { hasText: text });
  const job = (name: string): Locator =>
    window.page.locator('.part.sidebar .monaco-list-row', { hasText: name }).first();
  const log = (text: string): Locator => window.page.locator('.part.panel .view-line', { hasText: text }).first();

  test('a command is typed with completed paths, and what only a shell understands is refused', async () => {
    const { page } = window;
    await runCommand(page, 'Farwharf: Submit Workspace');
    await choose(page, 'Run a command…');
    await list('command').waitFor();
    const input = page.locator('.quick-input-widget input.input');
    await input.fill('sort names.txt | head');
    await list('sh -c').waitFor();
    await input.fill('sort -r na');
    await list('complete the path').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'command-completion.png') });
    await choose(page, 'complete the path');
    while ((await input.inputValue()) !== 'sort -r names.txt ') await sleep(50);
    await choose(page, 'run this command');
    await list('Submit sort -r names.txt').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'command-question.png') });
    await choose(page, 'Submit sort -r names.txt');
    await runCommand(page, 'View: Show Farwharf');
    await job('sort -r names.txt').filter({ hasText: 'succeeded' }).waitFor();
    await log('cy').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'command-job.png') });
    await runCommand(page, 'Farwharf: Submit Workspace');
    await list('Submit sort -r names.txt').waitFor(); // as the last time
    await page.keyboard.press('Escape');
  });

  test('a notebook is submitted from its toolbar, and comes home with its outputs and the cell that failed', {
    skip: missing === undefined ? false : `LOUD: ${missing}`,
  }, async () => {
    const { page } = window;
    await openFile(page, 'analysis.ipynb');
    await page.locator('.notebook-toolbar-container').getByRole('button', { name: 'Submit This File' }).click();
    await choose(page, 'Submit analysis.ipynb');
    await runCommand(page, 'View: Show Farwharf');
    const row = job('analysis.ipynb');
    await row.filter({ hasText: 'cell 3 of 3 of analysis.ipynb failed' }).waitFor();
    await log('[0, 1, 4, 9, 16]').waitFor();
    await row.click();
    await row.getByRole('button', { name: 'Download Results' }).click();
    await list('merge: put the outputs of the job into your notebook').getByRole('button', { name: 'OK' }).click();
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'analysis.ipynb' }).waitFor();
    await runCommand(page, 'View: Show Farwharf');
    await row.filter({ hasText: 'results downloaded' }).waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'notebook-results.png') });
    const { cells } = JSON.parse(await readFile(join(folder, 'analysis.ipynb'), 'utf8')) as {
      cells: { outputs: { output_type: string }[] }[];
    };
    assert.deepEqual(
      cells.map(({ outputs }) => outputs.map((output) => output.output_type)),
      [['stream'], ['execute_result'], ['error']],
    );
  });
});
