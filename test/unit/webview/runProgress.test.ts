import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TraceEvent } from '../../../src/agents/records/trace.ts';
import { takenKey } from '../../../src/webview/canvas/state/runOverlay.ts';
import { RunProgress } from '../../../src/webview/canvas/state/runProgress.ts';
import { stepText, tokensText, usageText, visitsText } from '../../../src/webview/canvas/scene/runText.ts';
import { drawnFile, drawnFlow } from '../flows/drawnFlows.ts';
import { tracedRun } from './tracedRun.ts';

const inner = drawnFlow('inner', ['search -> .']);
const outer = drawnFlow('outer', ['decide -again-> look', 'look -> decide', 'decide -enough-> .'], {
  look: { type: 'flow', flow: 'inner' },
});
const file = drawnFile([outer, inner]);

function progressOf(events: readonly TraceEvent[]): RunProgress {
  const progress = new RunProgress(file, outer);
  for (const event of events) progress.add(event);
  return progress;
}

const ended = tracedRun()
  .visit('outer/decide', { action: 'again', millis: 20, tokens: 100, cost: 0.01 })
  .flow('outer/look', (run) => run.visit('outer/look/search', { millis: 5 }))
  .visit('outer/decide', { visit: 2, action: 'enough', millis: 10, tokens: 50, cost: 0.02 });

test('a run is counted up by node and connection', () => {
  const { nodes, taken } = progressOf(ended.events).overlayAt(undefined);
  const decide = nodes.get('decide');
  assert.deepEqual(
    [decide?.status, decide?.visits, decide?.micros, decide?.usage.inputTokens],
    ['done', 2, 30_000, 150],
  );
  assert.ok(Math.abs((decide?.usage.cost ?? 0) - 0.03) < 1e-9);
  assert.deepEqual(
    [nodes.get('look')?.visits, nodes.get('look')?.micros, nodes.get('look/search')?.visits],
    [1, 5_000, 1],
  );
  assert.deepEqual(
    [...taken],
    [
      [takenKey('decide', 'again'), 1],
      [takenKey('look/search', 'default'), 1],
      [takenKey('look', 'default'), 1],
      [takenKey('decide', 'enough'), 1],
    ],
  );
});

test('a run can be looked at as it stood after each step', () => {
  const progress = progressOf(ended.events);
  assert.deepEqual(
    progress.steps.map(({ pagePath, visit }) => [pagePath, visit]),
    [
      ['decide', 1],
      ['look/search', 1],
      ['decide', 2],
    ],
  );
  const first = progress.overlayAt(0);
  assert.deepEqual([first.nodes.get('decide')?.visits, first.nodes.has('look')], [1, false]);
  assert.deepEqual([...first.taken.keys()], [takenKey('decide', 'again')]);
  const second = progress.overlayAt(1);
  assert.deepEqual([second.nodes.get('decide')?.visits, second.nodes.get('look')?.status], [1, 'done']);
});

test('a node that runs has run until now', () => {
  const running = tracedRun().start('outer/decide');
  const run = progressOf(running.events).overlayAt(undefined, 3_000).nodes.get('decide');
  assert.deepEqual([run?.status, run?.visits, run?.micros], ['running', 1, 3_000]);
});

test('a failure stays with its node and with the flow around it', () => {
  const failed = tracedRun().flow(
    'outer/look',
    (run) => run.visit('outer/look/search', { fails: 'no network' }),
    'no network',
  );
  const progress = progressOf(failed.events);
  const { nodes } = progress.overlayAt(undefined);
  assert.deepEqual([nodes.get('look/search')?.status, nodes.get('look/search')?.error], ['failed', 'no network']);
  assert.equal(nodes.get('look')?.status, 'failed');
  assert.deepEqual(
    progress.steps.map(({ error }) => error),
    ['no network'],
  );
});

test('events of nodes that the source no longer has disturb nothing', () => {
  const progress = progressOf(tracedRun().visit('outer/gone', { action: 'x' }).visit('elsewhere', {}).events);
  assert.deepEqual(
    progress.steps.map(({ pagePath }) => pagePath),
    [undefined, undefined],
  );
  assert.deepEqual([...progress.overlayAt(undefined).taken], []);
});

test('of a run that goes round for hours the last part is kept, and counted from where it begins', () => {
  const run = tracedRun();
  for (let visit = 1; visit <= 25_000; visit += 1) run.visit('outer/decide', { visit, action: 'again' });
  const progress = progressOf(run.events);
  assert.equal(progress.firstStep + progress.steps.length, 25_000);
  assert.ok(progress.steps.length < 25_000 && progress.steps.length > 10_000);
  assert.equal(progress.overlayAt(progress.firstStep).nodes.get('decide')?.visits, 1);
});

test('tokens and cost are short and have their units', () => {
  assert.deepEqual([850, 8_140, 123_456].map(tokensText), ['850 tok', '8.1k tok', '123k tok']);
  const usage = { calls: 1, inputTokens: 4, outputTokens: 6, cost: 0.5 };
  const run = {
    status: 'done',
    visits: 3,
    micros: 1_200_000,
    lastAction: undefined,
    usage,
    retries: 0,
    error: undefined,
  } as const;
  assert.deepEqual([visitsText(run), usageText(usage)], ['×3 · 1.2 s', '10 tok · $0.5']);
  const [step] = progressOf(ended.events).steps;
  assert.ok(step);
  assert.equal(stepText(step), 'decide → again · 20 ms');
});
