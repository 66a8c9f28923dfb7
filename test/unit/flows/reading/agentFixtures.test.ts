import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { diagnose } from '../../../../src/flows/language/diagnose.ts';
import type { FlowGraph } from '../../../../src/flows/graph/graph.ts';
import { diskHost } from '../../../../src/flows/project/diskHost.ts';
import { readFlows } from '../../../../src/flows/project/flowProject.ts';
import { agentFixtures } from '../agentFixtures.ts';

function connectionsOf({ nodes, edges, start }: FlowGraph): string[] {
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const labelOf = (id: string): string => labels.get(id) ?? `unknown ${id}`;
  return [
    ...(start === undefined ? [] : [`* -> ${labelOf(start)}`]),
    ...edges.map(({ source, action, target }) => {
      const arrow = action === 'default' ? '->' : `-${action}->`;
      return `${labelOf(source)} ${arrow} ${target === null ? '.' : labelOf(target)}`;
    }),
  ];
}

describe('an agent written from the documentation', () => {
  for (const { name, folder, file, graphs, hints = [] } of agentFixtures) {
    const path = join(folder, file);
    const read = () => readFlows(path, diskHost.read(path) ?? '', diskHost);

    it(`${name} is drawn with its nodes, connections and labels`, () => {
      const { flows, unread } = read();
      const drawn = Object.fromEntries(flows.map((flow) => [flow.label, connectionsOf(flow).sort()]));
      const expected = Object.fromEntries(
        Object.entries(graphs).map(([label, connections]) => [label, connections.toSorted()]),
      );
      assert.deepEqual(drawn, expected);
      assert.deepEqual(unread, []);
    });

    it(`${name} has no problems to report`, () => {
      const found = diagnose(read());
      const problems = found.filter(({ severity }) => severity !== 'hint');
      assert.deepEqual(problems, []);
      assert.deepEqual(
        found.map(({ code, range }) => `${code} in line ${range.start.line + 1}`),
        hints,
      );
    });
  }
});
