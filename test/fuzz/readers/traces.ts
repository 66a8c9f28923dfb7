import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layoutFlow } from '../../../src/flows/layout/flowLayout.ts';
import { readTrace } from '../../../src/flows/run/history/tracedFlows.ts';
import { allowRefusal, type FuzzedReader, nothingToClose } from '../reader.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/traces');

/** Traces that other programs exported: graphs that can be laid out, and events whose times begin with the run. */
export const traces: FuzzedReader = {
  name: 'traces',
  samples: () =>
    Promise.all(['langgraph.otlp.json', 'openaiAgents.otlp.jsonl'].map((name) => readFile(join(FIXTURES, name)))),
  words: [
    '"spanId":',
    '"parentSpanId":',
    '"spans":[',
    '"kvlistValue":',
    '__proto__',
    '"code":2',
    '1e400',
    '99999999999999999999',
  ],
  open: () =>
    Promise.resolve({
      read: (input) =>
        allowRefusal(() => {
          const { file, runs } = readTrace('trace', input.toString());
          for (const { flow, events } of runs) {
            assert.ok(
              file.flows.some(({ id }) => id === flow),
              'a run has no graph',
            );
            assert.ok(
              events.every(({ at }) => at >= 0 && Number.isFinite(at)),
              'an event has no time',
            );
          }
          const [graph] = file.flows;
          if (graph !== undefined && graph.nodes.length < 100) layoutFlow(graph, { flows: file.flows });
        }),
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
