import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  choose,
  openFile,
  openRow,
  openWorkbench,
  pressOnRow,
  reloadWorkbench,
  runCommand,
  showNotification,
} from '../../../scripts/vscode/workbench.ts';
import { AsyncDisposableStore } from '../../../src/core/processes/lifetime.ts';
import { screenshotOfFailure } from './failure.ts';
import type { JobHost } from './jobHost.ts';
import { FIRST_LINE, type GatedWorkspace, LAST_LINE, RESULT, SCRIPT, writeGatedWorkspace } from './workspace.ts';

const FOLDER = 'quick start';
const COUNTER = 'count.mjs';

/**
 * Declares the tests of the main job, which are the same wherever jobs run. The suite around them is declared in the test file, because
 * a failed test belongs to the file of its suite.
 *
 * @param open starts what the jobs of the window run on.
 */
export function declareMainJob(open: () => Promise<JobHost>): void {
  const opened = new AsyncDisposableStore();
  let host: JobHost;
  let window: Window;
  let workspace: GatedWorkspace;

  before(async () => {
    host = opened.use(await open());
    window = await openWindow({
      name: FOLDER,
      env: host.env,
      settings: { 'terminal.integrated.gpuAcceleration': 'off' }, // its text is in the page then
      prepare: async (folder, scratch) => {
        workspace = await writeGatedWorkspace(folder, join(scratch, 'gate'));
        await writeFile(join(folder, '.gitignore'), '# output\n*.log\n');
        await writeFile(join(folder, 'old.log'), 'of an earlier run');
      },
    });
    opened.use(window);
    opened.defer(() => workspace.open()); // a job that a failed test left behind ends by itself
    if (host.server !== undefined) await connectMachine(window.page, host.label, host.hasCluster === true);
  });
  after(() => opened[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const row = (text: string | RegExp, page = window.page): Locator =>
    page.locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT }).filter({ hasText: text }).first();
  const logLine = (text: string | RegExp): Locator =>
    window.page.locator('.part.panel .view-line', { hasText: text }).first();

  test('the activity bar has its icon, and the view says what it is for', async () => {
    await window.page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await window.page.locator('.pane-header', { hasText: 'Jobs' }).waitFor();
    await window.page.locator('.welcome-view', { hasText: 'Submit Workspace' }).waitFor();
  });

  test('a submitted folder is followed through a reload and in a second window, and its results come home', async () => {
    await runCommand(window.page, 'View: Show Farwharf'); // the icon would hide the view where it is shown already
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await window.page.locator('.quick-input-widget', { hasText: `Submit ${FOLDER} to ${host.label}` }).waitFor();
    await window.page.locator('.quick-input-widget', { hasText: '3 files' }).waitFor();
    await choose(window.page, 'Left out');
    await window.page.locator('.quick-input-widget', { hasText: `${host.label}: left out` }).waitFor();
    await window.page.keyboard.press('Escape');
    await window.page.locator('.quick-input-widget', { hasText: `Submit ${SCRIPT}` }).waitFor();
    await choose(window.page, 'Show all files');
    const leftOut = window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'old.log' });
    await leftOut.filter({ hasText: 'ignored by git: *.log (.gitignore:2)' }).click();
    await leftOut.getByRole('button', { name: 'Open Rule' }).click();
    await window.page.locator('.editor-instance .view-line', { hasText: '*.log' }).waitFor();
    await leftOut.getByRole('checkbox').click();
    await window.page.locator('.part.sidebar .message', { hasText: '4 files' }).waitFor();
    await leftOut.click();
    await window.page.keyboard.press('Escape');
    await window.page.locator('.quick-input-widget', { hasText: '4 files' }).waitFor();
    await choose(window.page, 'Submit');

    // The job cannot end before its gate is opened, so this line arrives while it runs.
    await logLine(FIRST_LINE).waitFor();
    await row('running').waitFor();
    await window.page
      .getByLabel(/^Farwharf, 1 job runs/)
      .first()
      .waitFor();

    if (host.hasCluster !== true) {
      await typeIntoJob(window.page, 'echo $((6*7)) > typed; cat typed', /^42/);
      await runCommand(window.page, 'Farwharf: Browse Running Job');
      await choose(window.page, SCRIPT);
      const typed = window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'typed' });
      await typed.filter({ hasText: '3 B' }).waitFor();
      await typeIntoJob(window.page, 'echo more >> typed; wc -c typed', /^8 typed/);
      await typed.filter({ hasText: '8 B' }).click();
      await window.page.locator('.editor-instance .view-line', { hasText: 'more' }).waitFor();
      await openRow(window.page, row('running'), logLine(FIRST_LINE));
    }

    await reloadWorkbench(window.page);
    await logLine(FIRST_LINE).waitFor();
    await row('running').waitFor();
    if (host.hasCluster !== true) {
      await openJobTerminal(window.page);
      await terminalLine(window.page, 'Press Enter to open a new shell.').waitFor();
      await openRow(window.page, row('running'), logLine(FIRST_LINE));
    }

    const second = await window.page.context().newPage();
    await openWorkbench(second, window.page.url());
    await runCommand(second, 'View: Show Farwharf');
    await row('running', second).waitFor();
    await second.goto('about:blank');
    await second.close();

    await workspace.open();
    await logLine(LAST_LINE).waitFor();
    await row('succeeded').waitFor();

    await runCommand(window.page, 'Farwharf: Browse Results');
    await choose(window.page, SCRIPT);
    const result = window.page.locator('.part.sidebar .monaco-list-row', { hasText: RESULT });
    await result.click();
    await window.page.locator('.tabs-container .tab', { hasText: RESULT }).waitFor();
    await result.click();
    await window.page.keyboard.press('Escape');
    await result.waitFor({ state: 'hidden' });

    await pressOnRow(window.page, row('succeeded'), 'Download Results');
    await window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: RESULT }).waitFor();
  });

  test('results do not overwrite what was changed meanwhile', async () => {
    const mine = '{"loss":"mine"}\n';
    await writeFile(join(workspace.folder, RESULT), mine);
    await runCommand(window.page, 'View: Show Farwharf');
    await pressOnRow(window.page, row('results downloaded'), 'Download Results');
    const list = window.page.locator('.quick-input-widget', { hasText: `Results of ${SCRIPT}` });
    await list.locator('.monaco-list-row[aria-checked="true"]', { hasText: 'keep both' }).waitFor();
    await list.getByRole('button', { name: 'OK' }).click();
    await window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'metrics (job' }).waitFor();
    assert.equal(await readFile(join(workspace.folder, RESULT), 'utf8'), mine);
  });

  test('a job is followed without a gap, though its machine is out of reach for a while, and is cancelled', async () => {
    const gate = join(window.scratch, 'counted');
    await writeFile(join(workspace.folder, COUNTER), counterScript(gate));
    await openFile(window.page, COUNTER);
    await runCommand(window.page, 'Farwharf: Submit This File');
    await window.page.locator('.quick-input-widget', { hasText: `Submit ${COUNTER}` }).waitFor();
    await choose(window.page, 'Submit');
    await runCommand(window.page, 'View: Show Farwharf');
    const counter = window.page.locator('.part.sidebar .monaco-list-row', { hasText: COUNTER }).first();
    await logLine(/^\d+$/).waitFor();
    if (host.server !== undefined) {
      await host.server.stop();
      await counter.filter({ hasText: `${host.label} does not respond` }).waitFor();
      await host.server.start();
    }
    await counter.filter({ hasText: 'running', hasNotText: 'last seen' }).click();
    await window.page.locator('.part.sidebar', { hasNotText: 'does not respond' }).waitFor();
    await writeFile(gate, '');
    await logLine('counted to').waitFor();
    await counter.getByRole('button', { name: 'Cancel Job' }).click();
    await counter.filter({ hasText: 'cancelled' }).waitFor();
    await logLine('counted to').click();
    const text = await copiedText(window.page);
    const counts = [...text.matchAll(/^(\d+)$/gm)].map(([count]) => Number(count));
    assert.deepEqual(
      counts,
      Array.from(counts, (_, index) => index + 1),
    );
    assert.match(text, new RegExp(`^counted to ${counts.length}$`, 'm'));
  });
}

/** Types a line into the terminal of the only running job, and waits for a line that the terminal then shows. */
async function typeIntoJob(page: Page, typed: string, shown: RegExp): Promise<void> {
  await openJobTerminal(page);
  await terminalLine(page, /[#$]\s*$/).waitFor();
  await page.locator('.terminal-wrapper.active .xterm.focus').waitFor();
  await page.keyboard.type(`${typed}\n`);
  await terminalLine(page, shown).waitFor();
}

async function openJobTerminal(page: Page): Promise<void> {
  await runCommand(page, 'Farwharf: Open Terminal in Job');
  await choose(page, SCRIPT);
}

function terminalLine(page: Page, text: string | RegExp): Locator {
  return page.locator('.terminal-wrapper.active .xterm-rows > div').filter({ hasText: text }).first();
}

/** A script that prints numbers until the gate is there, and then waits to be cancelled. */
function counterScript(gate: string): string {
  return [
    `import { existsSync } from 'node:fs';`,
    `import { setTimeout as sleep } from 'node:timers/promises';`,
    'let count = 0;',
    `for (; !existsSync(${JSON.stringify(gate)}); await sleep(100)) console.log(++count);`,
    'console.log(`counted to ${count}`);',
    'for (;;) await sleep(1000);',
    '',
  ].join('\n');
}

async function connectMachine(page: Page, name: string, hasCluster: boolean): Promise<void> {
  await runCommand(page, 'Farwharf: Connect a Machine over SSH');
  await choose(page, name);
  if (hasCluster) await page.locator('.monaco-dialog-box').getByRole('button', { name: 'Use Cluster' }).click();
  await showNotification(page, `Connected ${name}. New jobs run there.`);
  await runCommand(page, 'Notifications: Clear All Notifications');
}

/** The whole text of the editor with the focus, of which the page has only the lines on screen. */
async function copiedText(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+C');
  return page.evaluate<string>('navigator.clipboard.readText()');
}
