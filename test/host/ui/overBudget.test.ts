import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { openFile, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { writeBudget } from '../../../src/jobs/ledger/projectBudgets.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const SCRIPT = 'train.mjs';
const PRICED = '[[machine_classes]]\nname = "paid"\ncredits_per_minute = 0.1\n';
const LONGEST_SECONDS = 320;

suite('a running job over its hard budget', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'budget',
      settings: { 'farwharf.confirmSubmit': 'never' },
      prepare: async (folder, scratch) => {
        // Without a price, jobs on this machine count against no budget.
        await mkdir(join(scratch, 'home'), { mode: 0o700 });
        await writeFile(join(scratch, 'home', 'service.toml'), PRICED, { mode: 0o600 });
        await mkdir(folder);
        await writeFile(join(folder, SCRIPT), 'setInterval(() => {}, 1000);\n');
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const cancelAfter = async (seconds: number): Promise<void> => {
    const file = join(window.scratch, 'data', 'Machine', 'settings.json');
    const settings = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...settings, 'farwharf.cancelOverBudget': seconds }));
  };

  test('runs on if the user chooses Keep Running', async () => {
    const { page, scratch } = window;
    const home = join(scratch, 'home');
    const running = page.locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT }).filter({ hasText: 'running' });
    const keep = async (): Promise<void> => {
      const message = await showNotification(page, 'will be cancelled in');
      await message.getByRole('button', { name: 'Keep Running' }).click();
    };
    // Where the machine is so slow that the time is over before the choice is made, a longer one is tried.
    for (let seconds = 20, isInTime = false; !isInTime; seconds *= 2) {
      assert.ok(seconds <= LONGEST_SECONDS, 'there was no message');
      await cancelAfter(seconds);
      await openFile(page, SCRIPT);
      await runCommand(page, 'Farwharf: Submit This File');
      await runCommand(page, 'View: Show Farwharf');
      await running.waitFor();
      const isOver = sleep(1000 * seconds);
      await writeBudget(home, '', { hard: 0 });
      isInTime = await Promise.race([keep().then(() => true), isOver.then(() => false)]);
      await isOver;
      await writeBudget(home, '', undefined);
    }
    // The message came after the budget was set, so its time is over now or a few seconds later.
    await sleep(12_000);
    assert.ok(await running.isVisible(), 'the job was cancelled');
  });
});
