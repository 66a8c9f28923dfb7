import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchNode, Flow, Node } from '../../../../src/agents/index.ts';
import { graphOfFlow } from '../../../../src/flows/graph/exactGraph.ts';
import { mergeExact } from '../../../../src/flows/graph/mergeExact.ts';
import { edgesOf, onlyFlow, readText } from '../reading.ts';

class Work extends Node<object> {}
class Many extends BatchNode<object> {}

test('the graph of a created flow has its nested flows, and one that contains itself is finite', () => {
  const [work, again, many] = [new Work(), new Work(), new Many()];
  const inner = new Flow<object>({ start: many, name: 'Inner' }).connect(many, null, 'done');
  const outer = new Flow<object>({ start: work, name: 'Outer' }).connect(work, again).connect(again, inner, 'in');
  const graph = graphOfFlow(outer);
  assert.deepEqual([graph?.label, graph?.start], ['Outer', 'Work']);
  assert.deepEqual(
    graph?.nodes.map(({ label, className, library }) => [label, className, library]),
    [
      ['Work', 'Work', 'Node'],
      ['Work~2', 'Work', 'Node'],
      ['Inner', 'Flow', 'Flow'],
    ],
  );
  assert.deepEqual(graph.edges, [
    { source: 'Work', action: 'default', target: 'Work~2' },
    { source: 'Work~2', action: 'in', target: 'Inner' },
  ]);
  assert.deepEqual(graph.nodes[2]?.flow?.edges, [{ source: 'Many', action: 'done', target: null }]);
  inner.connect(many, outer, 'out');
  assert.equal(graphOfFlow(outer)?.nodes[2]?.flow?.nodes[1]?.flow, undefined);
  assert.equal(graphOfFlow({}), undefined);
});

test('what a run reports fills in what the source hides, and locations in the source stay', () => {
  const source = `import { Flow, Node } from 'farwharf/agents';
class Work extends Node {}
class Late extends Node {}
const work = new Work();
export const flow = new Flow({ start: work, name: 'Outer' }).connect(work, make(process.argv[2]));`;
  const read = readText(source);
  assert.equal(read.unread.length, 1);
  class Late extends Node<object> {}
  const [work, late] = [new Work(), new Late()];
  const exact = graphOfFlow(
    new Flow<object>({ start: work, name: 'Outer' }).connect(work, late).connect(late, null, 'end'),
  );
  const merged = mergeExact(read, exact === undefined ? [] : [exact]);
  const flow = onlyFlow(merged);
  assert.deepEqual(edgesOf(flow), ['work -default-> Late', 'Late -end-> .']);
  assert.deepEqual([flow.start, merged.unread, flow.unread], ['work', [], []]);
  assert.equal(flow.nodes[0]?.ranges.instance.start.line, 3);
  assert.match(flow.nodes[1]?.actions.unknown?.reason ?? '', /found by running/);
  assert.deepEqual(mergeExact(read, []), read);
});
