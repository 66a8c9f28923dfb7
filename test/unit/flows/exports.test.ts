import assert from 'node:assert/strict';
import { test } from 'node:test';
import { graphToMermaid } from '../../../src/flows/layout/graphToMermaid.ts';
import { graphToSvg } from '../../../src/flows/layout/graphToSvg.ts';
import { layoutFlow } from '../../../src/flows/layout/flowLayout.ts';
import { drawnFlow } from './drawnFlows.ts';

const inner = drawnFlow('lookUp', ['search -> notes', 'notes -> .']);
const outer = drawnFlow(
  'research',
  ['decide -search-> look', 'look -> decide', 'decide -enough-> write', 'write -> .'],
  {
    decide: { actions: ['give up'] },
    look: { type: 'flow', flow: 'lookUp' },
    write: { className: 'Write<"A & B">', summary: 'Writes </text><script>alert(1)</script>.' },
  },
);
const flows = [outer, inner];

test('a flow is exported as a Mermaid flowchart, with nested flows as subgraphs', () => {
  assert.equal(
    graphToMermaid(outer, flows),
    `flowchart TD
  n1(["Decide"])
  subgraph n2["lookUp"]
    n3(["Search"])
    n4["Notes"]
    n3 --> n4
    n4 --> n5((" "))
  end
  n6["Write#60;#34;A #38; B#34;#62;"]
  n1 -->|"search"| n2
  n2 --> n1
  n1 -->|"enough"| n6
  n6 --> n7((" "))
  n1 -.->|"give up"| n8["?"]
`,
  );
});

test('a flow that contains itself is exported to an end', () => {
  const endless = drawnFlow('endless', ['again -> .'], { again: { type: 'flow', flow: 'endless' } });
  assert.match(graphToMermaid(endless, [endless]), /n1\(\["Again"\]\)/);
});

test('a flow is exported as an SVG file that holds every node, connection and action, and no foreign markup', () => {
  const svg = graphToSvg(layoutFlow(outer, { flows, isOpen: () => true }));
  for (const name of ['Decide', 'Search', 'Notes', 'Write']) assert.ok(svg.includes(`>${name}`), name);
  for (const action of ['search', 'enough', 'give up']) assert.ok(svg.includes(`>${action}</text>`), action);
  assert.equal(svg.match(/<path class="line/g)?.length, 7);
  assert.ok(!svg.includes('<script'));
  assert.ok(!svg.includes('NaN'));
});

test('nodes without a class of their own have their names in exports', () => {
  const flow = drawnFlow('f', ['first -> second', 'second -> .'], {
    first: { className: 'Node' },
    second: { className: 'ParallelBatchNode' },
  });
  assert.match(graphToMermaid(flow, [flow]), /n1\(\["first"\]\)\n {2}n2\["second"\]\n {2}n1 --> n2/);
  assert.match(graphToSvg(layoutFlow(flow, { flows: [flow] })), />first<[\s\S]*>second</);
});

test('a flow that runs for each item is marked, open or closed', () => {
  const each = drawnFlow('each', ['a -> .']);
  const main = drawnFlow('main', ['each -> .'], { each: { type: 'batch', flow: 'each' } });
  assert.match(graphToMermaid(main, [main, each]), /subgraph n1\["each ×n"\]/);
  assert.match(graphToMermaid(main, [main]), /\["Each ×n"\]/);
  assert.match(graphToSvg(layoutFlow(main, { flows: [main, each] })), />Each ×n</);
});
