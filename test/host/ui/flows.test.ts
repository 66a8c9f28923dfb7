import assert from 'node:assert/strict';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameLocator, Locator } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { reloadWorkbench, runCommand } from '../../../scripts/vscode/workbench.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples/agents');
const FILE = 'research.mts';
const STEP_TIMEOUT_MS = 15_000;
const RUN_TIMEOUT_MS = 40_000;

// One story: each test goes on where the one before ended.
suite('flows in a window', { timeout: 500_000 }, () => {
  let window: Window;
  let folder = '';

  before(async () => {
    window = await openWindow({
      name: 'flows',
      settings: {
        'editor.minimap.enabled': false,
        'breadcrumbs.enabled': false,
        'editor.stickyScroll.enabled': false,
        'editor.wordWrap': 'on',
      },
      prepare: async (path) => {
        folder = path;
        await cp(EXAMPLES, path, { recursive: true });
      },
    });
    window.page.setDefaultTimeout(STEP_TIMEOUT_MS);
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach(async (t) => {
    if ('passed' in t && t.passed !== true) {
      await window.page.screenshot({ path: join(EVIDENCE, `${t.name.replaceAll(/\W+/g, '-')}.png`) });
    }
  });

  const canvas = (): FrameLocator =>
    window.page.frameLocator('iframe.webview.ready').last().frameLocator('iframe#active-frame');
  const node = (path: string): Locator => canvas().locator(`.node[data-path="${path}"]`);
  const tool = (name: string): Locator => canvas().getByRole('button', { name }).first();
  const line = (text: string | RegExp): Locator =>
    window.page.locator('.part.editor .view-line', { hasText: text }).first();
  const source = (): Promise<string> => readFile(join(folder, FILE), 'utf8');
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

  test('a flow file offers its canvas, which draws the flow beside it', async () => {
    await window.page.locator('.explorer-folders-view .monaco-list-row', { hasText: FILE }).dblclick();
    await line('A research agent').click();
    await window.page
      .locator('.editor-actions a[aria-label^="Open Canvas"]')
      .first()
      .click({ timeout: RUN_TIMEOUT_MS });
    await window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Research' }).last().click();
    await node('decide').waitFor();
    await node('write').waitFor();
    assert.equal(await canvas().locator('.node').count(), 3);
  });

  test('a connection that is drawn on the canvas is written into the source', async () => {
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
  });

  test('an edit of the source is drawn on the canvas, and undone there too', async () => {
    await goTo('.connect(write, decide');
    await window.page.keyboard.press('Control+Z');
    await line('.connect(write, null)').waitFor();
    await canvas().locator('.edge[data-key^="write"] .end, .terminal').first().waitFor();
    await save();
  });

  test('an action without a connection is a problem, which its quick fix mends', async () => {
    await goTo(".connect(decide, write, 'enough')");
    await window.page.keyboard.press('Home');
    await window.page.keyboard.press('Shift+End');
    await window.page.keyboard.press('Delete');
    await window.page.keyboard.press('Delete');
    await window.page.locator('.squiggly-warning, .squiggly-error').first().waitFor();
    await canvas().locator('.plus').first().waitFor({ state: 'attached' }); // the stub of the action that leads nowhere
    await save();
    await goTo("return 'enough");
    await window.page.keyboard.press('Control+.');
    await window.page
      .locator('.action-widget .action-list-item, .action-widget .monaco-list-row', { hasText: 'Connect' })
      .first()
      .click();
    await canvas().locator('.plus').waitFor({ state: 'detached' });
    await save();
    assert.match(await source(), /\.connect\(decide, write, 'enough'\)/);
  });

  test('a run lights up the canvas and stands behind the lines of the source', async () => {
    await tool('Run').click();
    await canvas().locator('.timeline .summary', { hasText: /Done/ }).waitFor({ timeout: RUN_TIMEOUT_MS });
    await node('decide').locator('text', { hasText: '×3' }).first().waitFor();
    await goTo('class Decide');
    await window.page.waitForFunction(`[...document.querySelectorAll('.part.editor .view-line span')].some(
      (span) => getComputedStyle(span, '::after').content.includes('×3'))`);
  });

  test('the run is stepped back, with what each step changed', async () => {
    await canvas()
      .getByRole('button', { name: /Step back/ })
      .click();
    await canvas()
      .locator('.timeline .moment', { hasText: /Step 7 of 8/ })
      .waitFor();
    await canvas().locator('.shared, .panel', { hasText: 'notes' }).first().waitFor();
  });

  test('a breakpoint in post is hit under Debug', async () => {
    await goTo('shared.query = query;');
    await window.page.keyboard.press('F9');
    await runCommand(window.page, 'Farwharf: Debug Flow');
    const pick = window.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Research' });
    await pick
      .last()
      .click({ timeout: 3_000 })
      .catch(() => {}); // asked only where the caret is outside of all flows
    await window.page
      .locator('.debug-top-stack-frame-line, .codicon-debug-stackframe')
      .first()
      .waitFor({ timeout: RUN_TIMEOUT_MS });
    await window.page.keyboard.press('F9'); // the run goes on to its end
    await window.page.keyboard.press('F5');
    await window.page.locator('.debug-toolbar').waitFor({ state: 'hidden', timeout: RUN_TIMEOUT_MS });
  });

  test('a run is pinned as a test, which passes in the Test Explorer', async () => {
    await tool('Pin as test').click();
    await window.page.locator('.quick-input-widget', { hasText: 'Pin This Run' }).waitFor();
    await window.page.keyboard.press('Enter'); // the name that is offered
    await untilFile(join(folder, 'research.pinned.flowtest.json'));
    await runCommand(window.page, 'Testing: Focus on Test Explorer View');
    const item = window.page.locator('.test-explorer .monaco-list-row', { hasText: 'pinned' }).first();
    await item.waitFor({ timeout: RUN_TIMEOUT_MS });
    await runCommand(window.page, 'Test: Run All Tests');
    await item.locator('.codicon-testing-passed-icon').waitFor({ timeout: RUN_TIMEOUT_MS });
  });

  test('the flow that is submitted as a job lights up from there', async () => {
    await line('class Decide').click();
    await tool('Submit').click();
    await window.page.locator('.quick-input-widget', { hasText: 'will be sent' }).waitFor({ timeout: RUN_TIMEOUT_MS });
    await window.page.keyboard.press('Enter');
    await canvas()
      .locator('.timeline .summary', { hasText: /Done.*on this machine/ })
      .waitFor({ timeout: RUN_TIMEOUT_MS });
    await node('decide').locator('text', { hasText: '×3' }).first().waitFor();
  });

  test('a reloaded window has its canvas back, with the runs', async () => {
    await reloadWorkbench(window.page);
    await node('decide').waitFor({ timeout: RUN_TIMEOUT_MS });
    const runs = canvas().getByRole('combobox', { name: 'Runs of this flow' }).locator('option');
    await runs.nth(2).waitFor({ state: 'attached' });
  });

  async function untilFile(path: string): Promise<void> {
    const deadline = Date.now() + RUN_TIMEOUT_MS;
    for (;;) {
      const text = await readFile(path, 'utf8').catch((): undefined => undefined);
      if (text !== undefined) return;
      assert.ok(Date.now() < deadline, `${path} is not there`);
      await sleep(100);
    }
  }
});
