import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepPrinter } from '../../../../src/cli/terminal/stepPrinter.ts';
import type { RunEvent } from '../../../../src/flows/run/protocol/runEvent.ts';

test('a wait for a rate limit is printed when it begins, unless it is short', () => {
  const lines: string[] = [];
  const printer = new StepPrinter({ note: () => {}, phase: (line) => lines.push(line) });
  const wait = (waitMs: number): RunEvent => {
    return {
      type: 'wait',
      run: 1,
      path: 'F/A',
      node: 'A',
      visit: 1,
      at: 5,
      provider: 'openai',
      model: 'gpt-5',
      waitMs,
    };
  };
  printer.print({ type: 'run-start', run: 1, name: 'F', startedAt: 0, state: {} });
  printer.print({ type: 'node-start', run: 1, path: 'F/A', node: 'A', visit: 1, at: 0 });
  printer.print(wait(400));
  printer.print(wait(60_000));
  assert.deepEqual(lines, ['  F/A: the rate limit of gpt-5 is reached; trying again in 1 min']);
});
