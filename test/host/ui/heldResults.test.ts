import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, followLink, pressOnRow, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const NAME = 'held results';
const SCRIPT = 'main.mjs';
const METRICS = 'out/metrics.json';
const TASKS = '.vscode/tasks.json';
const MAKEFILE = 'Makefile';
const MINE = '{"loss": "mine"}\n';
const CHOICES = ['keep both', 'use the result', 'keep mine'];

suite('results that tools act on', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: NAME,
      prepare: async (path) => {
        folder = path;
        await writeWorkspace(path);
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const list = (): Locator => window.page.locator('.quick-input-widget', { hasText: `Results of ${SCRIPT}` });
  const row = (name: string): Locator => list().locator('.monaco-list-row', { hasText: name });
  const job = (): Locator =>
    window.page.locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT }).filter({ hasText: 'succeeded' }).first();
  const download = async (): Promise<void> => {
    await pressOnRow(window.page, job(), 'Download Results');
    await list().waitFor();
  };
  const explorer = (): Locator => window.page.locator('.explorer-folders-view');
  const inExplorer = (name: string): Locator => explorer().locator('.monaco-list-row', { hasText: name });

  test('are listed last and unselected, and selecting all rows at once does not select them', async () => {
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await choose(window.page, 'Submit');
    await job().filter({ hasText: '3 new files' }).waitFor();
    const message = await showNotification(window.page, '3 new files');
    await message.getByRole('button', { name: 'Download Results' }).click();
    await list().waitFor();
    for (const [index, name] of [METRICS, MAKEFILE, TASKS].entries()) {
      const [place, isSelected] = [`[aria-posinset="${index + 1}"]`, `[aria-checked="${name === METRICS}"]`];
      await row(name)
        .and(window.page.locator(place + isSelected))
        .waitFor();
    }
    await list().getByText('Select one at a time').waitFor();
    await row(METRICS).click();
    await list().getByText('0 Selected').waitFor();
    await list().getByRole('checkbox', { name: 'Toggle all' }).click();
    await list().getByText('1 Selected').waitFor();
    await row(METRICS).and(window.page.locator('[aria-checked="true"]')).waitFor();
    await list().getByRole('button', { name: 'OK' }).click();
    await inExplorer(basename(METRICS)).waitFor();
    assert.deepEqual([MAKEFILE, TASKS].map(isInFolder), [false, false]);
  });

  test('are offered in the last line of the log; each shows its change, and is selected on its own', async () => {
    await runCommand(window.page, 'View: Show Farwharf');
    const offer = window.page.locator('.view-line .detected-link', { hasText: 'Download' });
    await followLink(window.page, offer.first(), list());
    await row(MAKEFILE).hover();
    await row(MAKEFILE).getByRole('button', { name: 'Compare' }).click();
    await window.page.locator('.tab', { hasText: `${MAKEFILE}: your file and the result` }).waitFor();
    await row(MAKEFILE).click();
    await list().getByText('1 Selected').waitFor();
    await list().getByRole('button', { name: 'OK' }).click();
    await explorer().waitFor(); // the last step of a download that has written something
    assert.deepEqual([MAKEFILE, TASKS].map(isInFolder), [true, false]);
  });

  test('of a file that the user changed too have one line for each choice', async () => {
    await writeFile(join(folder, METRICS), MINE);
    await runCommand(window.page, 'View: Show Farwharf');
    await job().filter({ hasText: 'results downloaded' }).waitFor();
    await download();
    const isSelected = async (words: string): Promise<string | null> =>
      row(METRICS).filter({ hasText: words }).getAttribute('aria-checked');
    assert.deepEqual(await Promise.all(CHOICES.map(isSelected)), ['true', 'false', 'false']);
    await row(METRICS).filter({ hasText: 'use the result' }).click();
    await row(METRICS).filter({ hasText: 'keep both' }).and(window.page.locator('[aria-checked="false"]')).waitFor();
    assert.deepEqual(await Promise.all(CHOICES.map(isSelected)), ['false', 'true', 'false']);
    await list().getByRole('button', { name: 'OK' }).click();
    await list().waitFor({ state: 'hidden' });
    await explorer().waitFor();
    assert.equal(await readFile(join(folder, METRICS), 'utf8'), '{}\n');
  });

  test('whose folder is a file here have the same choices, and none of them loses that file', async () => {
    await rm(join(folder, 'out'), { recursive: true });
    await writeFile(join(folder, 'out'), MINE);
    for (const [choice, words, after] of [
      ['keep mine', 'do not save the result', ['out']],
      ['keep both', 'beside your file out, which is in its way', ['out', 'out (job N)']],
      ['use the result', 'rename your file out', ['out', 'out (before job N)', 'out (job N)']],
    ] as const) {
      await runCommand(window.page, 'View: Show Farwharf');
      await download();
      const chosen = row(METRICS).filter({ hasText: choice }).filter({ hasText: words });
      if ((await chosen.getAttribute('aria-checked')) !== 'true') await chosen.click();
      await list().getByRole('button', { name: 'OK' }).click();
      await list().waitFor({ state: 'hidden' });
      if (choice !== 'keep mine') await explorer().waitFor();
      assert.deepEqual(await namesLike('out'), after);
    }
    await showNotification(window.page, /out is now out \(before job/);
    const [, mine = ''] = (await readdir(folder)).filter((name) => name.startsWith('out')).sort();
    assert.equal(await readFile(join(folder, mine), 'utf8'), MINE);
    assert.equal(await readFile(join(folder, METRICS), 'utf8'), '{}\n');
  });

  const isInFolder = (name: string): boolean => existsSync(join(folder, name));
  const namesLike = async (start: string): Promise<readonly string[]> =>
    (await readdir(folder))
      .filter((name) => name.startsWith(start))
      .map((name) => name.replace(/job \w+/, 'job N'))
      .sort();
});

async function writeWorkspace(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const script = [
    "import { mkdirSync, writeFileSync } from 'node:fs';",
    "for (const name of ['.vscode', 'out']) mkdirSync(name, { recursive: true });",
    ...[METRICS, TASKS, MAKEFILE].map((name) => `writeFileSync(${JSON.stringify(name)}, '{}\\n');`),
  ];
  await writeFile(join(folder, SCRIPT), `${script.join('\n')}\n`);
}
