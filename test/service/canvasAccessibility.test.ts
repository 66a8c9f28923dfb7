// What axe finds on the canvas, in each theme, with each of its panels open.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RunInfo } from '../../src/webview/canvas/state/canvasMessages.ts';
import { drawnFile, drawnFlow, lineRange } from '../unit/flows/drawnFlows.ts';
import { tracedRun } from '../unit/webview/tracedRun.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { CanvasBench, type CanvasPage } from './support/canvas.ts';
import { THEMES, type ThemeName } from './support/themes.ts';

const lookUp = drawnFlow('lookUp', ['search -> notes', 'notes -> .'], { search: { type: 'rag' } });
const research = drawnFlow(
  'research',
  ['decide -search-> look', 'look -> decide', 'decide -enough-> write', 'write -> .'],
  {
    decide: { actions: ['give up'], summary: 'Asks what it still has to know.' },
    look: { type: 'flow', flow: 'lookUp' },
  },
);
const file = drawnFile([research, lookUp]);
const unread = [{ range: lineRange(3), reason: 'The target is computed at run time.' }];
const syntaxError = { message: 'Unexpected token', range: lineRange(41) };
const failed: RunInfo = {
  id: 'first',
  flow: 'research',
  state: 'failed',
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  durationMs: 3_000,
  remote: undefined,
  message: 'no paper',
  isRecorded: true,
};
const trace = tracedRun()
  .visit('research/decide', { action: 'enough', millis: 800, tokens: 1_500, cost: 0.01 })
  .visit('research/write', { millis: 900, fails: 'no paper' });

const press = (canvas: CanvasPage, key: string): Promise<void> => canvas.page.keyboard.press(key);
/** Panels by what opens each; all but the first and the last are closed by Escape. */
const PANELS: readonly (readonly [name: string, open: (canvas: CanvasPage) => Promise<void>])[] = [
  ['the outline', (canvas) => canvas.page.getByRole('button', { name: 'Outline' }).click()],
  ['a found node', (canvas) => press(canvas, 'Control+f').then(() => canvas.page.keyboard.type('e'))],
  ['the list of nodes to add', (canvas) => press(canvas, 'n')],
  ['the menu of a node', (canvas) => press(canvas, 'Shift+F10')],
  ['all keys', (canvas) => press(canvas, '?')],
  ['the export menu', (canvas) => canvas.page.getByRole('button', { name: 'Export…' }).click()],
];

/** Themes differ in their colors alone, so all other rules are checked in one of them. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
const FULLY_CHECKED: ThemeName = 'dark';

let bench: CanvasBench | undefined;
let missing = '';
before(async () => {
  bench = await CanvasBench.start((reason) => (missing = reason));
});
after(() => bench?.[Symbol.asyncDispose]());

for (const theme of Object.keys(THEMES) as ThemeName[]) {
  test(`axe finds nothing on the canvas in the theme ${theme}`, async (t) => {
    if (bench === undefined) return t.skip(missing);
    const canvas = await bench.page({ theme });
    const check = async (state: string): Promise<void> =>
      assert.deepEqual(
        await accessibilityProblems(canvas.page, theme === FULLY_CHECKED ? undefined : COLOR_RULES),
        [],
        state,
      );

    await canvas.send({ type: 'graph', version: 1, file: drawnFile([]), isTrusted: true });
    await check('a file without a flow');
    await canvas.send({ type: 'graph', version: 2, file, isTrusted: true });
    await check('a flow');
    for (const [name, open] of PANELS) {
      await canvas.page.locator('.surface').focus();
      await press(canvas, 'ArrowDown');
      await open(canvas);
      await check(name);
      await press(canvas, 'Escape');
    }
    await canvas.send(
      { type: 'runs', runs: [failed, { ...failed, id: 'second', state: 'done' }] },
      { type: 'run', run: failed },
      { type: 'runEvents', run: 'first', events: trace.events },
    );
    await check('a failed run');
    await canvas.page.getByRole('button', { name: 'Step back (,)' }).click();
    const changes = [{ path: ['query'], before: '"old"', after: '"new"' }];
    await canvas.send({ type: 'shared', run: 'first', step: 0, changes, state: '{ "query": "new" }' });
    await check('a step of a run');
    await canvas.send({
      type: 'graph',
      version: 3,
      file: { ...file, unread, syntaxError, isStale: true },
      isTrusted: false,
    });
    await canvas.page.locator('.banner summary').click();
    await check('a source with errors in a folder that is not trusted');
    assert.deepEqual(canvas.errors, []);
    await canvas.close();
  });
}
