import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neededKeys } from '../../../../src/flows/graph/neededKeys.ts';
import { readText } from '../reading.ts';

const HEAD = `import { Flow, Node } from 'farwharf/agents';
class A extends Node { prep(shared) { return [shared.text, shared.limit]; } post(shared) { shared.text = 'x'; } }
const a = new A();
`;

function inputsOf(text: string): [string, unknown][] {
  const file = readText(text);
  const [flow] = file.flows;
  assert.ok(flow !== undefined);
  return [...neededKeys(file, flow, text)];
}

test('a flow that nothing runs needs the keys that it reads and does not write', () => {
  assert.deepEqual(inputsOf(`${HEAD}export const flow = new Flow({ start: a });`), [['limit', undefined]]);
});

test('a flow that its file runs needs nothing, also where that is skipped without an export', () => {
  const flow = 'const flow = new Flow({ start: a });\n';
  assert.deepEqual(inputsOf(`${HEAD}${flow}await flow.run({ text: '' });`), []);
  assert.deepEqual(inputsOf(`${HEAD}${flow}if (import.meta.main) await flow.run({ text: '' });`), []);
  assert.deepEqual(inputsOf(`${HEAD}export ${flow}await flow.run({ text: '' });`), []);
});

test('a flow that its file exports and runs only as the main module needs what that run is given, with the plain values', () => {
  const run = "flow.run({ text: 'hi', notes: [1, { deep: null }], now: Date.now(), flag: true })";
  assert.deepEqual(
    inputsOf(`${HEAD}export const flow = new Flow({ start: a });\nif (import.meta.main) await ${run};`),
    [
      ['text', 'hi'],
      ['notes', [1, { deep: null }]],
      ['now', undefined],
      ['flag', true],
      ['limit', undefined],
    ],
  );
});
