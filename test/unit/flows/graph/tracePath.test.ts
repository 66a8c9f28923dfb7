import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlowGraph, FlowNode } from '../../../../src/flows/graph/graph.ts';
import { unitOfPath } from '../../../../src/flows/graph/tracePath.ts';

function graph(id: string, label: string, nodes: readonly { label: string; flow?: string }[]): FlowGraph {
  return {
    id,
    label,
    nodes: nodes.map((node) => ({ ...node, id: `the ${node.label}`, flow: node.flow }) as unknown as FlowNode),
  } as unknown as FlowGraph;
}

const main = graph('main', 'main', [{ label: 'Work' }, { label: 'Work~2' }, { label: 'nested', flow: 'inner' }]);
const inner = graph('inner', 'Flow', [{ label: 'Work' }, { label: 'a/b' }, { label: 'a#2', flow: 'deep' }]);
const deep = graph('deep', 'Deep', [{ label: 'x' }]);

function found(path: string): string | undefined {
  const unit = unitOfPath({ flows: [main, inner, deep] }, main, path);
  return unit === undefined ? undefined : `${unit.graph.id}: ${unit.node?.id ?? 'itself'}`;
}

test('the path of a trace event leads to a node, through nested flows and their visits', () => {
  assert.equal(found('main'), 'main: itself');
  assert.equal(found('main/Work'), 'main: the Work');
  assert.equal(found('main/Work~2'), 'main: the Work~2');
  assert.equal(found('main/nested'), 'main: the nested');
  assert.equal(found('main/nested/Work'), 'inner: the Work');
  assert.equal(found('main/nested#12/Work'), 'inner: the Work');
  assert.equal(found('main/nested[3]/Work'), 'inner: the Work');
  assert.equal(found('main/nested#2[10]/a/b'), 'inner: the a/b');
});

test('names that hold the separators of paths are found too', () => {
  assert.equal(found('main/nested/a/b'), 'inner: the a/b');
  assert.equal(found('main/nested#2/a#2/x'), 'deep: the x');
  assert.equal(found('main/nested/a#2#3/x'), 'deep: the x');
});

test('a path that the graph does not have leads nowhere', () => {
  for (const path of ['other/Work', 'main/Wor', 'main/Works', 'main/Work/x', 'main/nested/Gone', '']) {
    assert.equal(found(path), undefined, path);
  }
});
