import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepPrinter } from '../../../../../src/cli/terminal/stepPrinter.ts';
import { RunTotals } from '../../../../../src/flows/run/history/runSummary.ts';
import type { RunEvent } from '../../../../../src/flows/run/protocol/runEvent.ts';
import { heldMegabytes } from '../../../heldMemory.ts';

const STEPS = 100_000;
const MAX_GROWTH = 10; // megabytes; the steps themselves are thirty times as much

const run = 1;
const took = { prepMicros: 0, execMicros: 0, postMicros: 0, isReplayed: false };

/** A flow whose node `A` is visited again and again, with a state of twenty texts that move by one at each visit. */
function* longRun(steps: number): Generator<RunEvent, void> {
  yield { type: 'run-start', run, name: 'F', startedAt: 0, state: {} };
  yield { type: 'flow-start', run, path: 'F', node: 'F', visit: 1, at: 0 };
  for (let visit = 1; visit <= steps; visit += 1) {
    const place = { run, path: 'F/A', node: 'A', visit, at: visit };
    const changes = Array.from({ length: 20 }, (_, index) => {
      return { op: 'set' as const, path: ['recent', index], value: `step ${visit + index}` };
    });
    yield { type: 'node-start', ...place };
    yield {
      type: 'model',
      ...place,
      provider: 'p',
      model: 'm',
      durationMs: 5,
      retries: 0,
      inputTokens: 3,
      outputTokens: 2,
    };
    yield { type: 'node-end', ...place, ...took, action: 'again' };
    yield { type: 'state', run, path: 'F/A', visit, at: visit, changes };
    yield { type: 'edge', ...place, action: 'again', to: 'A' };
  }
  yield { type: 'flow-end', run, path: 'F', node: 'F', visit: 1, at: steps, ...took };
}

/** How many megabytes an observer of a long run holds. */
function growth(observe: (event: RunEvent) => void): number {
  for (const event of longRun(100)) observe(event);
  const before = heldMegabytes();
  for (const event of longRun(STEPS)) observe(event);
  return heldMegabytes() - before;
}

test('the memory of a printed run does not grow with its steps', () => {
  const lines: string[] = [];
  const printer = new StepPrinter({ note: () => {}, phase: (line) => lines.push(line) });
  const grown = growth((event) => printer.print(event));
  assert.ok(grown < MAX_GROWTH, `${grown} MB`);
  assert.equal(lines[0], '  F/A -> again, <1 ms, 1 model call, 5 tokens');
});

test('the totals of a run are counted without storing its steps', () => {
  const totals = new RunTotals();
  const grown = growth((event) => totals.push(event));
  assert.ok(grown < MAX_GROWTH, `${grown} MB`);
  const { name, steps, usage } = totals.summary({ type: 'stopped' });
  assert.equal(name, 'F');
  assert.equal(steps, STEPS + 100 + 2);
  assert.deepEqual(usage, {
    calls: STEPS + 100,
    inputTokens: 3 * (STEPS + 100),
    outputTokens: 2 * (STEPS + 100),
    cost: 0,
  });
});

test('the model calls of a visit that did not end count', () => {
  const totals = new RunTotals();
  const events = [...longRun(1)];
  for (const event of events.slice(
    0,
    events.findIndex(({ type }) => type === 'node-end'),
  ))
    totals.push(event);
  const { steps, usage } = totals.summary({ type: 'exited', code: 9 });
  assert.deepEqual([steps, usage?.calls], [1, 1]);
});

test('the flow that was asked for names the run, wherever it ran', () => {
  const totals = new RunTotals('wanted');
  const start = (number: number, name: string): void =>
    totals.push({ type: 'run-start', run: number, name, startedAt: 0, state: {} });
  for (let number = 1; number <= 30; number += 1) start(number, `flow${number}`);
  start(31, 'wanted');
  const { name, others } = totals.summary({ type: 'stopped' });
  assert.equal(name, 'wanted');
  assert.equal(others?.length, 20);
});
