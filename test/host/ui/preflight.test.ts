import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { assertInert, HOSTILE, LONG_HOSTILE } from '../support/hostileText.ts';

const OTHER = 'train.mjs --epochs 3';

suite('the question before a submit', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'asking',
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, 'train.mjs'), 'console.log(process.argv.slice(2).join());\n');
        await writeFile(join(path, 'data.csv'), 'a,b\n');
        await writeFile(join(path, '.gitignore'), 'skipped.log\n');
        await writeFile(join(path, 'skipped.log'), '');
        await mkdir(`${path}-scratch`, { recursive: true });
        await writeFile(join(`${path}-scratch`, 'rows.csv'), '1,2\n');
        await symlink(`${path}-scratch`, join(path, 'linked'));
      },
    });
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, 'train.mjs');
    await submit('Submit train.mjs');
    await job('succeeded').waitFor();
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const list = (text: string): Locator => window.page.locator('.quick-input-widget', { hasText: text });
  const job = (text: string): Locator =>
    window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'train.mjs' }).filter({ hasText: text }).first();
  const submit = async (row: string): Promise<void> => {
    await list(row).waitFor();
    await choose(window.page, row);
  };
  const type = async (text: string): Promise<void> => {
    await list('Submit asking').waitFor();
    await window.page.locator('.quick-input-widget input.input').fill(text);
  };

  test('stays open when Enter is pressed on text that fits no row', async () => {
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await list('Machine class').waitFor();
    await type('zzz');
    await window.page.locator('.quick-input-list .monaco-list-row').first().waitFor({ state: 'hidden' });
    await window.page.keyboard.press('Enter');
    await type('');
    await list('Machine class').waitFor();
  });

  test('shows all files as a tree, in which keys leave a file out, and Escape returns', async () => {
    await choose(window.page, 'Show all files');
    await window.page.getByRole('treeitem', { name: 'skipped.log, left out' }).click({ button: 'right' });
    await window.page.locator('.monaco-menu .action-item', { hasText: 'Open Rule' }).waitFor();
    await window.page.keyboard.press('Escape');
    const file = window.page.locator('.part.sidebar').getByRole('checkbox', { name: 'data.csv', checked: true });
    await file.focus();
    await window.page.keyboard.press('Space');
    await window.page.getByRole('treeitem', { name: 'data.csv, left out, excluded by you' }).waitFor();
    await window.page.keyboard.press('Escape');
    await list('1 excluded by you').waitFor();
    await choose(window.page, 'Left out');
    await window.page.locator('.quick-input-list').getByText('data.csv').click();
    await list('Submit asking').getByRole('button', { name: 'OK' }).click();
    await list('3 files').waitFor();
  });

  test('sends what a link leads to after its check mark is set, and shows where that is', async () => {
    await choose(window.page, 'Show all files');
    const link = window.page.locator('.part.sidebar').getByRole('checkbox', { name: 'linked', checked: false });
    await link.focus();
    await window.page.keyboard.press('Space');
    const row = window.page.getByRole('treeitem', {
      name: new RegExp(`^linked, sent, link to ${folder}-scratch · 1 file`),
    });
    await row.waitFor();
    await row.click();
    await window.page.keyboard.press('ArrowRight');
    await window.page.getByRole('treeitem', { name: 'rows.csv, sent' }).waitFor();
    await window.page.keyboard.press('Escape');
    await list(
      `linked is a link out of the folder. What it leads to is sent: 1 file, from ${folder}-scratch`,
    ).waitFor();
    await list('4 files').waitFor();
  });

  test('takes another command that is typed into it', async () => {
    await type(OTHER);
    await choose(window.page, 'run this script');
    await list(`Submit ${OTHER}`).waitFor();
  });

  test('asks about the same job again after its upload has failed', async () => {
    await rm(join(folder, 'data.csv'));
    await submit(`Submit ${OTHER}`);
    const message = await showNotification(window.page, 'data.csv was removed');
    await message.getByRole('button', { name: 'Try Again' }).click();
    await submit(`Submit ${OTHER}`);
    await job('--epochs 3').filter({ hasText: 'succeeded' }).waitFor();
  });

  test('rewrites a shell script with the line ends of Windows by one key, and the job has what the link leads to', async () => {
    const script = join(folder, 'run.sh');
    await writeFile(script, '#!/bin/bash -e\r\nif true; then\r\n  cat linked/rows.csv\r\nfi\r\n');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await type('run.sh');
    await choose(window.page, 'run this script');
    const finding = list('Submit run.sh').getByText('run.sh has the line ends of Windows');
    await finding.waitFor();
    await choose(window.page, 'Select this line to rewrite it');
    await finding.waitFor({ state: 'detached' });
    await list('Submit run.sh').waitFor();
    assert.equal(await readFile(script, 'utf8'), '#!/bin/bash -e\nif true; then\n  cat linked/rows.csv\nfi\n');
    await submit('Submit run.sh');
    await window.page.locator('.part.panel .view-line', { hasText: /^1,2$/ }).waitFor();
  });

  test('shows what a folder and a service are called as text, in its rows and in the tree of files', async () => {
    const { page } = window;
    await using service = await hostileService();
    const names = [
      '[x](command:workbench.action.quit) $(bug).py',
      '\u202egnp\u001b[2J.py',
      '<img src=x onerror=alert(1)>.py',
    ];
    for (const name of names) await writeFile(join(folder, name), '');
    await runCommand(page, 'Farwharf: Select Host');
    await choose(page, 'Connect a Service');
    for (const [question, answer] of [
      ['Connect a service', service.url],
      ['Sign in to', 'k'.repeat(40)],
    ] as const) {
      await list(question).waitFor();
      await page.locator('.quick-input-widget input.input').fill(answer);
      await page.keyboard.press('Enter');
    }
    await page.locator('.part.statusbar', { hasText: '1e+308' }).waitFor();
    await runCommand(page, 'Farwharf: Submit Workspace');
    await list('[x](command:').waitFor();
    await assertInert(list('Machine class'), 'rows');
    await choose(page, 'Script');
    await list('Submit asking: script').waitFor();
    await assertInert(list('Submit asking: script'), 'scripts');
    await choose(page, '[x](command:');
    await list('Machine class').waitFor();
    await assertInert(list('Machine class'), 'rows of the script');
    await choose(page, 'Machine class');
    await list(': machine class').waitFor();
    await assertInert(list(': machine class'), 'machine classes');
    await page.keyboard.press('Escape');
    await list('Volumes').waitFor();
    await choose(page, 'Volumes');
    await list(': volumes').waitFor();
    await assertInert(list(': volumes'), 'volumes');
    await page.keyboard.press('Escape');
    await type('Show all'); // the last rows are not drawn
    await choose(page, 'Show all files');
    const tree = page.locator('.part.sidebar .pane', { hasText: 'command:workbench' }).first();
    await tree.waitFor();
    await assertInert(tree, 'files');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  });
});

/** A service all of whose names act, where names are texts. */
async function hostileService(): Promise<{ readonly url: string } & AsyncDisposable> {
  const rate = {
    machine_class: HOSTILE,
    description: LONG_HOSTILE,
    credits_per_minute: 1,
    cpus: 1,
    memory_gb: 1,
    gpus: 0,
  };
  const account = {
    account_id: HOSTILE,
    plan: HOSTILE,
    credits: 1e308,
    rate_card: [rate, { ...rate, machine_class: 'local' }],
    features: [HOSTILE],
    volumes: [{ name: HOSTILE, writable: true }],
  };
  const server = createServer((request, response) => {
    const isAccount = request.url === '/v1/me';
    response.writeHead(isAccount ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isAccount ? account : { detail: LONG_HOSTILE }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
