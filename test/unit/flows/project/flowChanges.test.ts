import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareFlows, type FlowChange } from '../../../../src/flows/project/flowChanges.ts';
import { drawnFile, drawnFlow } from '../drawnFlows.ts';

const short = ({ kind, flow, node, edge, text }: FlowChange): string =>
  [kind, flow, edge ?? node, text].filter(Boolean).join(' ');

test('nodes and connections that were added, removed and changed are found, and the removed ones stay in the drawing', () => {
  const before = drawnFile([
    drawnFlow('research', ['decide -search-> look', 'look -> decide', 'decide -enough-> write']),
  ]);
  const after = drawnFile([
    drawnFlow('research', ['decide -search-> decide', 'decide -enough-> write', 'write -> check', 'check -> .']),
    drawnFlow('other', ['alone']),
  ]);
  const { file, changes } = compareFlows(
    { file: before, hashes: { 'research/decide': 'a', 'research/write': 'w' } },
    { file: after, hashes: { 'research/decide': 'b', 'research/write': 'w' } },
  );
  assert.deepEqual(changes.map(short), [
    'changed research decide its source',
    'added research check',
    'removed research look',
    'changed research decide:search it led to look, now to decide',
    'added research write:default',
    'added research check:default',
    'removed research look:default',
    'added other alone',
  ]);
  const [flow] = file.flows;
  assert.deepEqual(
    flow?.nodes.map(({ id }) => id),
    ['decide', 'write', 'check', 'look'],
  );
  assert.ok(flow?.edges.some(({ id }) => id === 'look:default'));
});

test('equal versions have no changes, and another start is one', () => {
  const lines = ['a -> b', 'b -> .'];
  const file = drawnFile([drawnFlow('f', lines)]);
  assert.deepEqual(compareFlows({ file, hashes: {} }, { file, hashes: {} }).changes, []);
  const [flow] = file.flows;
  assert.ok(flow);
  const moved = { ...file, flows: [{ ...flow, start: 'b' }] };
  assert.deepEqual(compareFlows({ file, hashes: {} }, { file: moved, hashes: {} }).changes.map(short), [
    'changed f b it is the start now',
  ]);
});
