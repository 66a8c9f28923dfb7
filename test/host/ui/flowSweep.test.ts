import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand, showNotification, webviewOf } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const FLOW = `import { writeFileSync } from 'node:fs';
import { Flow, Node } from 'farwharf/agents';
class Score extends Node {
  override post() {
    const score = 2 * Number(process.argv[2]);
    console.log('farwharf:metric', JSON.stringify({ score }));
    writeFileSync('score.txt', String(score));
  }
}
const score = new Score();
export const flow = new Flow({ start: score, name: 'Search' }).connect(score, null);
`;
const PROFILES = {
  grid: { script: 'search.mts ${matrix:n}', matrix: { n: [4, 5] } },
  mixed: { script: '${matrix:file}.mts', matrix: { file: ['search', 'other'] } },
};

suite('a flow as the script of a sweep', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'flow sweep',
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'package.json'), '{ "type": "module" }\n');
        await writeFile(join(path, 'farwharf.json'), JSON.stringify({ profiles: PROFILES }));
        for (const name of ['search', 'other']) await writeFile(join(path, `${name}.mts`), FLOW);
      },
    });
    await runCommand(window.page, 'View: Show Farwharf');
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const submit = async (profile: string): Promise<void> => {
    await runCommand(window.page, 'Farwharf: Submit Profile');
    await choose(window.page, profile);
  };
  /** By its cells in full, because a duration or a price may contain any digits. */
  const row = (...cells: readonly (string | number)[]): Locator =>
    webviewOf(window.page).getByRole('row', { name: new RegExp(`^${cells.join(' ')} `) });

  test('runs once for each combination, with its arguments, and each run comes home', async () => {
    await submit('grid');
    const question = window.page.locator('.monaco-dialog-box', { hasText: 'Submit 2 jobs of grid' });
    await question.getByRole('button', { name: 'Submit' }).click();
    for (const n of [4, 5]) await row(n, 2 * n, 'succeeded').waitFor();
    const download = webviewOf(window.page).getByRole('button', { name: 'Download Results' });
    await download.click();
    await download.waitFor({ state: 'hidden' });
    const scoreOf = (name: string): Promise<string> => readFile(join(folder, 'grid', name, 'score.txt'), 'utf8');
    assert.deepEqual(await Promise.all(['1-n=4', '2-n=5'].map(scoreOf)), ['8', '10']);
  });

  test('must be the same file in all jobs, and the message says so before anything is sent', async () => {
    await submit('mixed');
    const message = await showNotification(window.page, 'The jobs of mixed run 2 different files');
    assert.match(
      await message.innerText(),
      /Nothing was sent\. Use one flow file for all jobs, and pass it arguments\./,
    );
  });
});
