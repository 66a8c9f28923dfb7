// The packed extension in the VS Code that FARWHARF_CODE_SERVER names.
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { FrameLocator, Locator } from 'playwright-core';
import { temporaryExamples } from '../../scripts/trackedFiles.ts';
import { EVIDENCE } from '../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../scripts/vscode/window.ts';
import { choose, openFile, runCommand, typeIntoList, webviewOf } from '../../scripts/vscode/workbench.ts';

const EXAMPLES = join(temporaryExamples(), 'agents');
const FLOW = 'summarize.mts';
const SCRIPT = 'measure.mjs';
const RESULT = 'measured.json';
const MEASURE = `console.log('measuring');\nawait import('node:fs').then((fs) => fs.writeFileSync('${RESULT}', '{"depth":3}\\n'));\n`;
const WAIT_MS = 120_000; // nothing here is measured: only that it happens

suite('in a window', { timeout: 15 * 60_000 }, () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'matrix folder',
      prepare: async (folder) => {
        await cp(EXAMPLES, folder, { recursive: true });
        await writeFile(join(folder, SCRIPT), MEASURE);
      },
    });
    window.page.setDefaultTimeout(WAIT_MS);
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach(async (t) => {
    if ('passed' in t && t.passed !== true) {
      const release = process.env['FARWHARF_CODE_SERVER'] ?? 'newest';
      await window.page.screenshot({ path: join(EVIDENCE, `matrix-${release}-${t.name.replaceAll(/\W+/g, '-')}.png`) });
    }
  });

  const file = (name: string): Locator =>
    window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
  const canvas = (): FrameLocator => webviewOf(window.page);

  test('main job: the folder is submitted, its job succeeds, and its result lies in the folder', async () => {
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await window.page.locator('.quick-input-widget', { hasText: 'to this machine' }).waitFor();
    await choose(window.page, 'Submit');
    await runCommand(window.page, 'Farwharf: Focus on Jobs View');
    const job = window.page.locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT });
    const succeeded = job.filter({ hasText: 'succeeded' }).first();
    await succeeded.click();
    await succeeded.getByRole('button', { name: 'Download Results' }).click();
    await runCommand(window.page, 'View: Show Explorer');
    await file(RESULT).waitFor();
  });

  test('flow: a flow file is drawn on its canvas and runs to its end', async () => {
    await openFile(window.page, FLOW);
    await window.page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click();
    await canvas().locator('.node').first().waitFor();
    await canvas().getByRole('button', { name: 'Run' }).first().click();
    await canvas().locator('.timeline .summary', { hasText: 'Done' }).waitFor();
  });

  test('search: the words of a file lead to its lines', async () => {
    await typeIntoList(window.page, 'Farwharf: Search Folder', 'lighthouse', 'library/');
    await window.page.keyboard.press('Escape');
  });
});
