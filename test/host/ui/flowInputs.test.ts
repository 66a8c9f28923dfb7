import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, closeAllEditors, openFile, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
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

suite('what a run of a flow needs', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'inputs',
      prepare: async (path) => {
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'guarded.mts'), GUARDED);
        await writeFile(join(path, 'broken.mts'), BROKEN);
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

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
    await closeAllEditors(page);
    await openFile(page, 'broken.mts');
    await page.locator('.codelens-decoration', { hasText: 'Run' }).waitFor();
    await runCommand(page, 'Farwharf: Run Flow');
    const message = await showNotification(page, /The run of .* failed: .*missing\.ts/);
    await message.getByRole('button', { name: 'Show Output' }).click();
    await page.locator('.part.panel .view-line', { hasText: 'could not run' }).first().waitFor();
  });
});
