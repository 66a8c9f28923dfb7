import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  choose,
  closeAllEditors,
  openFile,
  runCommand,
  showNotification,
  webviewOf,
} from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { openCanvas, runOnCanvas } from '../support/flowRuns.ts';

const GUARDED = `import { Flow, Node } from 'farwharf/agents';
interface Shared { text: string; notes: string[] }
class Shout extends Node<Shared, string> {
  override prep(shared: Shared) { return shared.text; }
  override post(shared: Shared, text: string) { shared.notes.push(text); shared.text = text.toUpperCase(); }
}
const shout = new Shout();
export const guarded = new Flow<Shared>({ start: shout }).connect(shout, null);
if (import.meta.main) await guarded.run({ text: 'ahoy', notes: [] });
`;

const BROKEN = `import { Flow, Node } from 'farwharf/agents';
import { missing } from './missing.ts';
class Work extends Node { override exec() { return missing(); } }
const work = new Work();
export const broken = new Flow({ start: work }).connect(work, null);
`;

const SCORE = `import { writeFileSync } from 'node:fs';
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

suite('the inputs of flows', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'inputs',
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'package.json'), '{ "type": "module" }\n');
        await writeFile(join(path, 'farwharf.json'), JSON.stringify({ profiles: PROFILES }));
        await writeFile(join(path, 'guarded.mts'), GUARDED);
        await writeFile(join(path, 'broken.mts'), BROKEN);
        for (const name of ['search', 'other']) await writeFile(join(path, `${name}.mts`), SCORE);
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach(async (t) => {
    await screenshotOfFailure(window.page, t);
    await closeAllEditors(window.page);
  });

  suite('what a run of a flow needs', () => {
    test('is asked for if the file runs it only as the main module, and is what that run would have', async () => {
      const { page } = window;
      await openFile(page, 'guarded.mts');
      await openCanvas(page);
      const answered = (async () => {
        await page.locator('.quick-input-list .monaco-list-row', { hasText: 'text"ahoy"' }).waitFor();
        await page.locator('.quick-input-list .monaco-list-row', { hasText: 'notes[]' }).waitFor();
        await choose(page, /^\s*Run$/);
      })();
      await Promise.all([answered, runOnCanvas(page)]);
    });

    test('and lacks is said by a message if no canvas and no line of a node shows it', async () => {
      const { page } = window;
      await openFile(page, 'broken.mts');
      await page.locator('.codelens-decoration', { hasText: 'Run' }).waitFor();
      await runCommand(page, 'Farwharf: Run Flow');
      const message = await showNotification(page, /The run of .* failed: .*missing\.ts/);
      await message.getByRole('button', { name: 'Show Output' }).click();
      await page.locator('.part.panel .view-line', { hasText: 'could not run' }).first().waitFor();
    });
  });

  suite('a flow as the script of a sweep', () => {
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
});
