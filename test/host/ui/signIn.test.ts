import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand, showNotification, WAIT_TIMEOUT_MS } from '../../../scripts/vscode/workbench.ts';
import { Scratch, type SignalledService } from '../../service/commandLine.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { filesWith, processesWith } from '../support/keySearch.ts';
import { FIRST_LINE, type GatedWorkspace, SCRIPT, writeGatedWorkspace } from '../support/workspace.ts';

suite('signing in', () => {
  let window: Window;
  let scratch: Scratch;
  let service: SignalledService;
  let workspace: GatedWorkspace;

  before(async () => {
    scratch = await Scratch.create();
    const config = join(scratch.root, 'service.json');
    await writeFile(config, JSON.stringify({ process: { isolation: 'none' } })); // its job waits for a file in /tmp
    service = await scratch.serveAsProcess(['--config', config]);
    window = await openWindow({
      name: 'signing in',
      prepare: async (folder, place) => {
        workspace = await writeGatedWorkspace(folder, join(place, 'gate'));
      },
    });
  });
  after(async () => {
    await workspace.open();
    await window[Symbol.asyncDispose]();
    await scratch[Symbol.asyncDispose]();
  });
  afterEach((t) => screenshotOfFailure(window.page, t));

  const input = (text: string): Locator => window.page.locator('.quick-input-widget', { hasText: text });
  const answer = async (question: string, text: string): Promise<void> => {
    await input(question).waitFor();
    await window.page.locator('.quick-input-widget input.input').fill(text);
    await window.page.keyboard.press('Enter');
  };
  const job = (state: string): Locator =>
    window.page.locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT }).filter({ hasText: state }).first();

  test('a wrong key is asked for again, and the right one submits a job', async () => {
    await runCommand(window.page, 'Farwharf: Select Host');
    await choose(window.page, 'Connect a Service');
    await answer('Connect a service', service.url);
    await answer('Sign in to', 'wrong-key-wrong-key-wrong-key-wrong');
    await input('key')
      .filter({ hasText: /not|wrong|refused/i })
      .waitFor();
    await answer('Sign in to', service.key);
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await input('2 files').waitFor();
    await choose(window.page, 'Submit');
    await window.page.locator('.part.panel .view-line', { hasText: FIRST_LINE }).first().waitFor();
    await job('running').waitFor();
  });

  test('a key that was entered is in no file, log, environment or command line, while a job runs and after it', async () => {
    const search = async (): Promise<string[]> => [
      ...(await filesWith(service.key, window.scratch)),
      ...(await processesWith(service.key, [service.pid, process.pid])),
    ];
    const canary = join(window.scratch, 'canary');
    await writeFile(canary, Buffer.from(`{"password":"${service.key}"}`).toString('base64'));
    assert.deepEqual(await search(), [canary]);
    await workspace.open();
    await job('succeeded').waitFor();
    assert.deepEqual(await search(), [canary]);
  });

  test('an account that its operator disables learns why, and works again once it is enabled', async () => {
    const setAccount = async (verb: 'disable' | 'enable'): Promise<void> => {
      const { exit, stderr } = await scratch.run(['admin', 'account', verb, 'local', '--data', service.data]);
      assert.equal(exit, 0, stderr);
    };
    const status = window.page.locator('.part.statusbar .statusbar-item', { hasText: 'Account Refused' });
    await setAccount('disable');
    await runCommand(window.page, 'Farwharf: Refresh');
    await showNotification(window.page, 'The account local is disabled');
    await status.waitFor();
    await setAccount('enable');
    await runCommand(window.page, 'Farwharf: Refresh');
    await status.waitFor({ state: 'detached' });
  });

  test('a submit to a service that has stopped says that nothing was sent, and can run on this machine', async () => {
    process.kill(service.pid, 'SIGKILL');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    const message = await showNotification(window.page, 'Nothing was sent');
    assert.match(await message.innerText(), new RegExp(`Could not reach ${new URL(service.url).host}`));
    await message.getByRole('button', { name: 'Run on This Machine' }).click();
    await input('to this machine').waitFor();
    await choose(window.page, 'Submit');
    await window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'succeeded' }).nth(1).waitFor();
  });

  test('the Accounts menu of VS Code shows the service, and signs out of it', async () => {
    const { page } = window;
    const item = page.locator('.monaco-menu .action-item', { hasText: `${new URL(service.url).host} (Farwharf)` });
    const openAccounts = async (): Promise<void> => {
      await page.locator('.part.activitybar').getByRole('button', { name: 'Accounts' }).click();
      await page.locator('.monaco-menu').first().waitFor();
    };
    await openAccounts();
    await item.click();
    const signOut = page.locator('.monaco-menu .action-item', { hasText: /^Sign Out$/ });
    const confirm = page.locator('.monaco-dialog-box').getByRole('button', { name: 'Sign Out' });
    // For its first tenth of a second a menu ignores clicks.
    const deadline = Date.now() + WAIT_TIMEOUT_MS;
    while (!(await confirm.isVisible())) {
      assert.ok(Date.now() < deadline, 'VS Code does not ask whether to sign out');
      await signOut.click({ timeout: 1_000 }).catch(() => {});
    }
    await confirm.click();
    await page.locator('.monaco-dialog-box').waitFor({ state: 'detached' });
    // The menu does not change while it is open.
    for (await openAccounts(); (await item.count()) > 0; await openAccounts()) await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await runCommand(page, 'Farwharf: Select Host');
    await choose(page, service.url);
    await input('Sign in to').waitFor();
  });
});
