import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MarkedLineWriter } from '../../../../../src/core/text/markedLines.ts';
import { JobFlowEvents } from '../../../../../src/flows/run/start/jobFlowEvents.ts';
import type { RunEvent } from '../../../../../src/flows/run/protocol/runEvent.ts';

const EVENTS: readonly RunEvent[] = [
  { type: 'run-start', run: 1, name: 'F', startedAt: 0, state: { text: 'ß'.repeat(5_000) } },
  { type: 'node-start', run: 1, path: 'F/A', node: 'A', visit: 1, at: 3 },
  { type: 'run-end', run: 1, at: 9 },
];

function logOf(events: readonly unknown[]): string {
  let text = 'hello\n';
  const writer = new MarkedLineWriter((line) => (text += `${line}output\n`));
  for (const event of events) writer.write(event);
  return text;
}

test('the events of a run are found in the log of any service, in pieces of any size', () => {
  const text = logOf(EVENTS);
  for (const size of [50, 1_000, text.length]) {
    const reader = new JobFlowEvents();
    const found: RunEvent[] = [];
    for (let start = 0; start < text.length; start += size) {
      const piece = text.slice(start, start + size);
      found.push(...reader.push({ event: 'log', data: size === 50 ? piece : { stream: 'stdout', text: piece } }));
    }
    assert.deepEqual(found, EVENTS);
    assert.equal(reader.lost, 0);
  }
});

test("they are the flow events of Farwharf's own service", () => {
  const reader = new JobFlowEvents();
  assert.deepEqual(
    EVENTS.flatMap((data) => reader.push({ event: 'flow', data })),
    EVENTS,
  );
});

test('what is no event of a run is none', () => {
  const reader = new JobFlowEvents();
  assert.deepEqual(reader.push({ event: 'flow', data: { type: 'x' } }), []);
  assert.deepEqual(reader.push({ event: 'state', data: { state: 'running' } }), []);
  assert.deepEqual(reader.push({ event: 'log', data: logOf([{ no: 'event' }, 7]) }), []);
});
