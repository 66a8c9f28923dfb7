import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameLocator, Locator } from 'playwright-core';
import { temporaryExamples } from '../../../scripts/trackedFiles.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  applyQuickFix,
  closeAllEditors,
  openFile,
  reloadWorkbench,
  runCommand,
  WAIT_TIMEOUT_MS,
  webviewOf,
} from '../../../scripts/vscode/workbench.ts';
import { built } from '../../service/support/built.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const EXAMPLES = join(temporaryExamples(), 'agents');
const TRACES = join(import.meta.dirname, '../../fixtures/traces');
const EXAMPLE = 'research.mts';

suite('flows in a window', () => {
  let window: Window;
  let folder = '';
  /** The file of the test, which no other test touches. */
  let file = '';
  let testCount = 0;

  before(async () => {
    window = await openWindow({
      name: 'flows',
      settings: {
        'editor.minimap.enabled': false,
        'breadcrumbs.enabled': false,
        'editor.stickyScroll.enabled': false,
        'editor.wordWrap': 'on',
        'files.simpleDialog.enable': true,
      },
      prepare: async (path) => {
        folder = path;
        await cp(EXAMPLES, path, { recursive: true });
        await cp(TRACES, join(path, 'traces'), { recursive: true });
      },
    });
  });
  after(async () => window[Symbol.asyncDispose]());
  beforeEach(async () => {
    await closeAllEditors(window.page);
    testCount += 1;
    file = `flow${testCount}.mts`;
    await cp(join(EXAMPLES, EXAMPLE), join(folder, file));
    await openCanvas();
  });
  afterEach((t) => screenshotOfFailure(window.page, t));

  const canvas = (): FrameLocator => webviewOf(window.page);
  const node = (path: string): Locator => canvas().locator(`.node[data-path="${path}"]`);
  const tool = (name: string): Locator => canvas().getByRole('button', { name }).first();
  const line = (text: string | RegExp): Locator =>
    window.page.locator('.part.editor .view-line', { hasText: text }).first();
  const source = (): Promise<string> => readFile(join(folder, file), 'utf8');
  const save = async (): Promise<void> => {
    await window.page.keyboard.press('Control+S');
    await window.page.locator('.tab.dirty').waitFor({ state: 'detached' });
  };
  /** Puts the caret behind a text of the source. */
  const goTo = async (text: string): Promise<void> => {
    const before = (await source()).split(text)[0] ?? '';
    const lines = (before + text).split('\n');
    await runCommand(window.page, 'View: Focus First Editor Group');
    await window.page.keyboard.press('Control+G');
    await window.page.locator('.quick-input-widget', { hasText: 'line' }).waitFor();
    await window.page.keyboard.type(`${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`);
    await window.page.keyboard.press('Enter');
  };

  const openCanvas = async (): Promise<void> => {
    await openFile(window.page, file);
    await line('A research agent').click();
    await window.page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click();
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Research' }).first().click(); // nested flows come last
    await node('write').waitFor();
  };
  const run = async (): Promise<void> => {
    await tool('Run').click();
    await canvas().locator('.timeline .summary', { hasText: /Done/ }).waitFor();
  };

  test('a flow file offers its canvas, which draws the flow beside it', async () => {
    await node('decide').waitFor();
    assert.equal(await canvas().locator('.node').count(), 3);
  });

  test('a connection that is drawn on the canvas is written into the source, and an undo of it is drawn', async () => {
    await node('write').hover();
    const [port, target] = [
      await node('write').locator('.port').first().boundingBox(),
      await node('decide').locator('> .box').boundingBox(),
    ];
    assert.ok(port && target);
    const { mouse } = window.page;
    await mouse.move(port.x + 5, port.y + 5);
    await mouse.down();
    await mouse.move(target.x + 60, target.y + 30, { steps: 8 });
    await mouse.up();
    await window.page.keyboard.press('Enter');
    await line('.connect(write, decide)').waitFor();
    await line('.connect(write, decide)').click();
    await save();
    assert.match(await source(), /\.connect\(write, decide\)/);
    assert.doesNotMatch(await source(), /\.connect\(write, null\)/);
    await goTo('.connect(write, decide');
    await window.page.keyboard.press('Control+Z');
    await line('.connect(write, null)').waitFor();
    await canvas().locator('.edge[data-key^="write"] .end, .terminal').first().waitFor();
  });

  test('a connection that is renamed on the canvas is undone and redone there, and no other editor opens', async () => {
    const tabs = window.page.locator('.tabs-container .tab');
    const tabCount = await tabs.count();
    await canvas().locator('.surface').focus();
    await node('decide').click();
    await window.page.keyboard.press('e');
    await window.page.keyboard.press('F2');
    await canvas().locator('input:focus').fill('look it up');
    await window.page.keyboard.press('Enter');
    await line("return 'look it up'").waitFor();
    await canvas().locator('.surface').focus();
    await window.page.keyboard.press('Control+S');
    await window.page.locator('.tab.dirty').waitFor({ state: 'detached' });
    assert.match(await source(), /return 'look it up'/);
    await canvas().locator('.surface').focus();
    await window.page.keyboard.press('Control+Z');
    await line("return 'look it up'").waitFor({ state: 'detached' });
    await canvas().locator('.surface:focus').waitFor();
    await window.page.keyboard.press('Control+Y');
    await line("return 'look it up'").waitFor();
    assert.equal(await tabs.count(), tabCount);
  });

  test('an action without a connection is a problem, which its quick fix mends', async () => {
    await goTo(".connect(decide, write, 'enough')");
    await window.page.keyboard.press('Home');
    await window.page.keyboard.press('Shift+End');
    await window.page.keyboard.press('Delete');
    await window.page.keyboard.press('Delete');
    await line(".connect(decide, write, 'enough')").waitFor({ state: 'detached' });
    await canvas().locator('.plus').first().waitFor({ state: 'attached' }); // the stub of the action that leads nowhere
    await save();
    await goTo("return 'enough");
    await applyQuickFix(window.page, 'Connect');
    await canvas().locator('.plus').waitFor({ state: 'detached' });
    await save();
    assert.match(await source(), /\.connect\(decide, write, 'enough'\)/);
  });

  test('a run lights up the canvas and stands behind the lines of the source', async () => {
    await run();
    await node('decide').locator('text', { hasText: '×3' }).first().waitFor();
    await goTo('class Decide');
    await window.page.waitForFunction(`[...document.querySelectorAll('.part.editor .view-line span')].some(
      (span) => getComputedStyle(span, '::after').content.includes('×3'))`);
  });

  test('a run is stepped back, with what each step changed', async () => {
    await run();
    await canvas()
      .getByRole('button', { name: /Step back/ })
      .click();
    await canvas()
      .locator('.timeline .moment', { hasText: /Step 7 of 8/ })
      .waitFor();
    await canvas().locator('.shared, .panel', { hasText: 'notes' }).first().waitFor();
  });

  test('a run of the command line is listed when the canvas is used again', async () => {
    const options = canvas().getByRole('combobox', { name: 'Runs of this flow' }).locator('option');
    assert.equal(await options.count(), 1);
    await line('A research agent').click();
    const env = { ...process.env, FARWHARF_HOME: join(window.scratch, 'home') };
    execFileSync(process.execPath, [built('cli.mjs'), 'flow', 'run', file], { cwd: folder, env });
    await canvas()
      .locator('.surface')
      .click({ position: { x: 5, y: 5 } });
    await options.nth(1).waitFor({ state: 'attached' });
    assert.match((await options.nth(1).textContent()) ?? '', /^done · /);
  });

  test('one node runs again, with another input, and what it did stands beside what was recorded', async () => {
    await run();
    await node('write').click();
    await window.page.keyboard.press('Shift+R');
    const [recorded, now] = ['Recorded', 'Now'].map((name) => canvas().getByRole('region', { name }));
    assert.ok(recorded && now);
    await now.getByText('Output').waitFor();
    assert.equal(await canvas().locator('.report .differs').count(), 0);
    await node('write').click();
    await window.page.keyboard.press('i');
    const field = canvas().getByRole('textbox', { name: 'Shared state before the node' });
    await field.waitFor();
    await field.fill((await field.inputValue()).replace(/"notes": \[/, '"notes": ["a note of my own", '));
    await window.page.keyboard.press('Control+Enter');
    await now.locator('.differs').first().waitFor();
    assert.equal(await canvas().getByRole('combobox', { name: 'Runs of this flow' }).locator('option').count(), 2);
  });

  test('what changed since a commit is drawn, and nothing is checked out', async () => {
    const git = (...argv: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], { cwd: folder, encoding: 'utf8' });
    git('init', '-q');
    git('add', file);
    git('commit', '-qm', 'the first version');
    await goTo(".connect(decide, write, 'enough')");
    await window.page.keyboard.press('Home');
    await window.page.keyboard.press('Shift+End');
    await window.page.keyboard.press('Delete');
    await save();
    const text = await source();
    await tool('More…').click();
    await canvas().getByRole('menuitem', { name: 'Compare versions' }).click();
    await window.page.locator('.quick-input-list .monaco-list-row', { hasText: 'the first version' }).click();
    await canvas().locator('.edge.is-removed').first().waitFor();
    await canvas().getByText('1 removed').waitFor();
    await canvas().locator('.surface').focus();
    await window.page.keyboard.press('d');
    await canvas().locator('.changes .current', { hasText: 'removed the connection enough of Decide' }).waitFor();
    assert.equal(await source(), text);
    assert.equal(git('status', '--porcelain', '--', file).trim(), `M ${file}`);
  });

  test('a trace of another program opens as a run that can only be looked at', async () => {
    await runCommand(window.page, 'Farwharf: Open Trace File');
    const dialog = window.page.locator('.quick-input-widget', { hasText: 'Open a trace' });
    // VS Code's own dialog enters the path of a folder when it has listed it, over what was typed before.
    const listed = (name: string): Locator => dialog.locator('.monaco-list-row', { hasText: name });
    await listed('library').waitFor();
    await dialog.locator('input.input').fill(`${join(folder, 'traces')}/`);
    await listed('langgraph.otlp.json').click();
    await node('tools').waitFor();
    await canvas().locator('.timeline .summary', { hasText: 'Done · 2.4 s · 3 steps · 1.4k tok' }).waitFor();
    await node('agent').locator('text', { hasText: '×2' }).first().waitFor();
    assert.equal(await canvas().getByRole('button', { name: 'Run', exact: true }).isVisible(), false);
  });

  test('a breakpoint in post is hit under Debug', async () => {
    await goTo('shared.query = query;');
    await window.page.keyboard.press('F9');
    await window.page.locator('.codicon-debug-breakpoint, .codicon-debug-breakpoint-unverified').first().waitFor();
    await runCommand(window.page, 'Farwharf: Debug Flow');
    await window.page.locator('.debug-top-stack-frame-line, .codicon-debug-stackframe').first().waitFor();
    await window.page.keyboard.press('F9'); // the run continues to its end
    await window.page.keyboard.press('F5');
    await window.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  });

  test('a run is pinned as a test, which passes in the Test Explorer', async () => {
    await run();
    await tool('Pin as test').click();
    await window.page.locator('.quick-input-widget', { hasText: 'Pin This Run' }).waitFor();
    await window.page.keyboard.press('Enter'); // the name that is offered
    await untilFile(join(folder, `${basename(file, '.mts')}.pinned.flowtest.json`));
    await runCommand(window.page, 'Testing: Focus on Test Explorer View');
    const item = window.page.locator('.test-explorer .monaco-list-row', { hasText: 'pinned' }).first();
    await item.waitFor();
    await runCommand(window.page, 'Test: Run All Tests');
    await item.locator('.codicon-testing-passed-icon').waitFor();
  });

  test('a data set beside the flow is evaluated in the Test Explorer, but not with all tests', async () => {
    const rows = ['{"name":"passes","shared":{}}', '{"name":"fails","shared":{},"expect":{"missing":1}}'];
    const data = join(folder, `${basename(file, '.mts')}.cases.jsonl`);
    await writeFile(data, rows.join('\n'));
    await runCommand(window.page, 'Testing: Focus on Test Explorer View');
    const row = (text: string) => window.page.locator('.test-explorer .monaco-list-row', { hasText: text }).first();
    await row('cases.jsonl').waitFor();
    await runCommand(window.page, 'Test: Run All Tests');
    await row('cases.jsonl').click();
    await window.page.keyboard.press('ArrowRight'); // shows the cases
    await row('passes').waitFor();
    assert.equal(await row('passes').locator('.codicon-testing-passed-icon').count(), 0);
    await row('cases.jsonl').hover();
    await row('cases.jsonl')
      .getByRole('button', { name: /^Run Test/ })
      .first()
      .click();
    await row('passes').locator('.codicon-testing-passed-icon').waitFor();
    await row('fails').locator('.codicon-testing-failed-icon').waitFor();
  });

  test('the flow that is submitted as a job lights up from there', async () => {
    await goTo('class Decide');
    await tool('Submit').click();
    await window.page.locator('.quick-input-widget', { hasText: 'will be sent' }).waitFor();
    await window.page.keyboard.press('Enter');
    await canvas()
      .locator('.timeline .summary', { hasText: /Done.*on this machine/ })
      .waitFor();
    await node('decide').locator('text', { hasText: '×3' }).first().waitFor();
  });

  test('a reloaded window has its canvas back, with the runs', async () => {
    await run();
    await run();
    await reloadWorkbench(window.page);
    await node('decide').waitFor();
    const runs = canvas().getByRole('combobox', { name: 'Runs of this flow' }).locator('option');
    await runs.nth(1).waitFor({ state: 'attached' });
  });

  async function untilFile(path: string): Promise<void> {
    const deadline = Date.now() + WAIT_TIMEOUT_MS;
    for (;;) {
      const text = await readFile(path, 'utf8').catch((): undefined => undefined);
      if (text !== undefined) return;
      assert.ok(Date.now() < deadline, `${path} is not there`);
      await sleep(100);
    }
  }
});
