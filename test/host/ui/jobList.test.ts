import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  choose,
  closeAllEditors,
  openFile,
  pressOnRow,
  runCommand,
  showNotification,
  WAIT_TIMEOUT_MS,
} from '../../../scripts/vscode/workbench.ts';
import { processOwner } from '../../../src/core/processes/processOwner.ts';
import { formatJobLink } from '../../../src/extension/jobs/jobLink.ts';
import { JobLedger } from '../../../src/jobs/ledger/ledger.ts';
import { newRecord } from '../../../src/jobs/ledger/record.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { assertInert, HOSTILE, LONG_HOSTILE } from '../support/hostileText.ts';

const GOOD = 'good.mjs';
const BAD = 'bad.mjs';
const ERROR = 'ValueError: no data';

suite('the list of jobs', () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'several jobs',
      settings: {
        'farwharf.confirmSubmit': 'never',
        'files.simpleDialog.enable': true,
        'workbench.colorTheme': 'Default High Contrast',
      },
      prepare: async (path) => {
        folder = path;
        await mkdir(path, { recursive: true });
        await writeFile(join(path, GOOD), "console.log('fine');\n");
        const bad = `for (let line = 1; line <= 300; line++) console.log('line ' + line);\nconsole.log('${ERROR}');\nprocess.exitCode = 1;\n`;
        await writeFile(join(path, BAD), bad);
      },
    });
    for (const [script, state] of [
      [GOOD, 'succeeded'],
      [BAD, 'exit 1'],
    ] as const) {
      await openFile(window.page, script);
      await runCommand(window.page, 'Farwharf: Submit This File');
      await runCommand(window.page, 'View: Show Farwharf');
      await row(script, state).waitFor();
    }
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const rows = (): Locator =>
    window.page.locator('.part.sidebar .pane', { hasText: 'Jobs' }).first().locator('.monaco-list-row');
  const row = (text: string, state = ''): Locator =>
    rows().filter({ hasText: text }).filter({ hasText: state }).first();
  const list = (text: string): Locator => window.page.locator('.quick-input-widget', { hasText: text });
  const press = (...keys: readonly string[]): Promise<void> =>
    keys.reduce((before, key) => before.then(() => window.page.keyboard.press(key)), Promise.resolve());
  const answer = async (question: string, text: string): Promise<void> => {
    await list(question).waitFor();
    await window.page.locator('.quick-input-widget input.input').fill(text);
    await press('Enter');
  };
  const jobIdOf = (script: string): string => {
    const ledger = new JobLedger(join(window.scratch, 'home'));
    const jobId = ledger.list().find((record) => record.script === script)?.jobId ?? '';
    ledger.dispose();
    return jobId;
  };
  const linkTo = (script: string): string => formatJobLink('code-oss', { host: 'local', jobId: jobIdOf(script) });
  const runOn = async (command: string, script: string): Promise<void> => {
    await runCommand(window.page, `Farwharf: ${command}`);
    await choose(window.page, script);
  };
  const tab = (text: string): Locator => window.page.locator('.tabs-container .tab', { hasText: text });
  const eventually = async (look: () => Promise<boolean>, what: string): Promise<void> => {
    for (const end = Date.now() + WAIT_TIMEOUT_MS; !(await look()); await sleep(100)) assert.ok(Date.now() < end, what);
  };

  test('is filtered while typing, and shows all jobs again', async () => {
    await row(GOOD).click();
    await press('Control+Shift+l');
    await list('Filter jobs').waitFor();
    await window.page.keyboard.type('bad');
    await row(GOOD).waitFor({ state: 'hidden' });
    await row(BAD).waitFor();
    await press('Escape');
    await row(GOOD).waitFor();
    await runCommand(window.page, 'Farwharf: Filter Jobs');
    await choose(window.page, 'State: failed');
    await press('Enter');
    await row(GOOD).waitFor({ state: 'hidden' });
    await window.page.locator('.part.sidebar .pane-header .description', { hasText: 'failed' }).waitFor();
    await runCommand(window.page, 'Farwharf: Clear Job Filter');
    await row(GOOD).waitFor();
  });

  test('is grouped, and a pinned job stays on top', async () => {
    await runCommand(window.page, 'Farwharf: Group Jobs By');
    await choose(window.page, 'State');
    await row('Failed').waitFor();
    await row('Succeeded').waitFor();
    await runOn('Pin', BAD);
    await row('Pinned').waitFor();
    assert.match((await rows().first().getAttribute('aria-label')) ?? '', /^Pinned, 1 job/);
    await row('Failed').waitFor({ state: 'hidden' });
    await pressOnRow(window.page, row(BAD), 'Unpin');
    await row('Failed').waitFor();
    await runCommand(window.page, 'Farwharf: Group Jobs By');
    await choose(window.page, 'Day');
    await row('Today').waitFor();
  });

  test('colours the icons of jobs, in a high-contrast theme too', async () => {
    const colours = await window.page.evaluate<[icon: string, name: string][]>(
      `[...document.querySelectorAll('.part.sidebar .monaco-list-row')]
        .filter((row) => row.textContent.includes('.mjs'))
        .map((row) => ['.custom-view-tree-node-item-icon', '.label-name']
        .map((part) => getComputedStyle(row.querySelector(part)).color))`,
    );
    assert.equal(colours.length, 2);
    for (const [icon, name] of colours) assert.notEqual(icon, name);
  });

  test('names each row and each button', async () => {
    for (const one of await rows().all()) {
      await one.hover();
      assert.match((await one.getAttribute('aria-label')) ?? '', /\w/);
      for (const button of await one.getByRole('button').all())
        assert.match((await button.getAttribute('aria-label')) ?? '', /\w/);
    }
    assert.match((await row(BAD).getAttribute('aria-label')) ?? '', /^bad\.mjs, exit 1: ValueError: no data/);
  });

  test('opens, searches and saves the whole log of a job', async () => {
    await runOn('Open Full Log', BAD);
    await tab(`${BAD} (part 1).log`).waitFor();
    await runCommand(window.page, 'Farwharf: Find in Log');
    await list('Find in the log of').waitFor();
    await window.page.keyboard.type('line 250');
    await window.page.locator('.quick-input-list .monaco-list-row', { hasText: 'line 250' }).waitFor();
    await press('Enter');
    await window.page.locator('.part.editor .view-line', { hasText: 'line 250' }).waitFor();
    await runCommand(window.page, 'Farwharf: Show First Error in Log');
    await window.page.locator('.part.editor .view-line', { hasText: ERROR }).waitFor();
    const saved = join(folder, `${BAD}.log`);
    await runCommand(window.page, 'Farwharf: Save Log');
    await list('Show Local').getByRole('button', { name: 'OK' }).click(); // VS Code's own dialog, with our name
    await eventually(
      async () => (await readFile(saved, 'utf8').catch(() => '')).includes(`line 300\n${ERROR}`),
      'no file',
    );
    await closeAllEditors(window.page);
  });

  test('removes the selected jobs or the one with the focus by a key, brings them back, and adds one by its ID', async () => {
    await row(BAD).click();
    await press('Shift+ArrowDown', 'Shift+F10');
    const item = (title: string): Locator => window.page.locator('.monaco-menu .action-item', { hasText: title });
    await item('Remove from List').waitFor();
    for (const ofOne of ['Show Log', 'Open Full Log', 'Copy Job ID']) assert.equal(await item(ofOne).count(), 0, ofOne);
    await press('Escape', 'Delete');
    await row(BAD).waitFor({ state: 'hidden' });
    const message = await showNotification(window.page, '2 jobs removed');
    await message.getByRole('button', { name: 'Undo' }).click();
    await row(GOOD).waitFor();
    const jobId = jobIdOf(GOOD);
    await row(BAD).click();
    await press('ArrowDown', 'Delete'); // which selects nothing else
    await row(GOOD).waitFor({ state: 'hidden' });
    await row(BAD).waitFor();
    await runCommand(window.page, 'Farwharf: Add Job by ID');
    await answer('Add a job of this machine', jobId);
    await row('succeeded').waitFor();
  });

  test('keeps a job that is being sent, although a key is to remove it', async () => {
    const ledger = new JobLedger(join(window.scratch, 'home'));
    const id = randomUUID();
    ledger.claim(id, processOwner(), 3600_000);
    const { host, folder: sent, maxRuntime } = ledger.list()[0] ?? assert.fail('no job');
    const createdAt = new Date().toISOString();
    const terms = { host, folder: sent, maxRuntime, script: 'sent.mjs', createdAt };
    ledger.insert(newRecord({ ...terms, id, state: 'sending' }));
    await row('sent.mjs', 'sending').click();
    await press('Delete');
    await showNotification(window.page, 'sent.mjs has not ended.');
    assert.equal(ledger.get(id)?.removed, false);
    ledger.delete(id);
    ledger.dispose();
    await row('sent.mjs').waitFor({ state: 'hidden' });
  });

  test('shows what a service and a job say as text, in its rows, in their hovers and on the page of the job', async () => {
    const ledger = new JobLedger(join(window.scratch, 'home'));
    const id = randomUUID();
    const { host, folder: sent, maxRuntime } = ledger.list()[0] ?? assert.fail('no job');
    const createdAt = new Date().toISOString();
    const said = { project: LONG_HOSTILE, reason: LONG_HOSTILE, machineClass: HOSTILE, lastLogLine: LONG_HOSTILE };
    const terms = { host, folder: sent, maxRuntime, createdAt, finishedAt: createdAt, jobId: 'hostile-1' };
    ledger.insert(newRecord({ ...terms, ...said, id, script: `hostile.py ${HOSTILE}`, state: 'failed', exitCode: 1 }));
    const hostile = row('hostile.py');
    await hostile.waitFor();
    await assertInert(hostile, 'row');
    await runCommand(window.page, 'Farwharf: Focus on Jobs View');
    await press('Home');
    const focused = window.page.locator('.part.sidebar .monaco-list-row.focused', { hasText: 'hostile.py' });
    while (!(await focused.isVisible())) await press('ArrowDown');
    await press('Control+k', 'Control+i');
    const hover = window.page.locator('.monaco-hover', { hasText: 'hostile-1' });
    await hover.waitFor();
    await assertInert(hover, 'hover');
    await press('Escape');
    await runOn('Show Job Page', 'hostile.py');
    const page = window.page
      .frameLocator('iframe.webview.ready')
      .frameLocator('iframe')
      .locator('body', { hasText: 'hostile-1' });
    await assertInert(page, 'page');
    await closeAllEditors(window.page);
    ledger.delete(id);
    ledger.dispose();
    await hostile.waitFor({ state: 'hidden' });
  });

  test('shows a job that a link leads to, after a question', async () => {
    await closeAllEditors(window.page);
    await runCommand(window.page, 'Developer: Open URL');
    await window.page.locator('.quick-input-widget input.input').fill(linkTo(GOOD));
    await press('Enter');
    const dialog = (text: string) => window.page.locator('.monaco-dialog-box', { hasText: text });
    await dialog('open this URI').getByRole('button', { name: 'Open' }).click();
    await dialog('Show job').getByRole('button', { name: 'Show' }).click();
    await tab(GOOD).waitFor();
  });

  test('has budgets of projects', async () => {
    await runCommand(window.page, 'Farwharf: Set Budget');
    await list('Set the budget').waitFor();
    await window.page.keyboard.type('vision');
    await choose(window.page, 'vision');
    await answer('Warn before submitting for project vision', '50');
    await answer('Block submits for project vision', '100');
    const file = join(window.scratch, 'home', 'budgets.json');
    await eventually(async () => (await readFile(file, 'utf8').catch(() => '')).includes('100'), 'no budget');
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), { vision: { soft: 50, hard: 100 } });
  });

  test('brings the results of a sweep home without a question, those of each job into a folder of its own', async () => {
    const profile = { script: 'keep.mjs ${matrix:n}', matrix: { n: [1, 2] } };
    await writeFile(join(folder, 'farwharf.json'), JSON.stringify({ profiles: { keep: profile } }));
    await writeFile(
      join(folder, 'keep.mjs'),
      "import { writeFileSync } from 'node:fs';\nwriteFileSync('out.txt', process.argv[2]);\nwriteFileSync('Makefile', 'all:');\n",
    );
    await runCommand(window.page, 'Farwharf: Submit Profile');
    await choose(window.page, 'keep');
    const question = window.page.locator('.monaco-dialog-box', { hasText: 'Submit 2 jobs of keep' });
    await question.getByRole('button', { name: 'Submit' }).click();
    await row('keep', '2 of 2 done').waitFor();
    // VS Code focuses the page of the sweep when it has loaded, which closes an open list.
    const hasFocus = `document.activeElement?.matches('iframe.webview.ready')`;
    await eventually(() => window.page.evaluate<boolean>(hasFocus), 'the page has no focus');
    await runCommand(window.page, 'Farwharf: Download Sweep Results');
    await choose(window.page, 'keep');
    const second = join(folder, 'keep', '2-n=2', 'out.txt');
    await eventually(async () => (await readFile(second, 'utf8').catch(() => '')) === '2', 'no results');
    assert.equal(await readFile(join(folder, 'keep', '1-n=1', 'out.txt'), 'utf8'), '1');
    await showNotification(window.page, '2 results could change how tools behave');
  });
});
