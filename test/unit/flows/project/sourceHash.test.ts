import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFlows } from '../../../../src/flows/project/flowProject.ts';
import { sourceHashes } from '../../../../src/flows/project/versionReader.ts';

const SOURCE = `import { Flow, Node } from 'farwharf/agents';
class A extends Node { exec() { return 1; } }
class B extends Node { exec() { return 2; } }
const [a, b] = [new A(), new B()];
export const flow = new Flow({ start: a }).connect(a, b).connect(b, null);
`;

function hashes(text: string): Readonly<Record<string, string>> {
  const host = { version: () => undefined, read: () => undefined };
  return sourceHashes(readFlows('/flow.ts', text, host), (file) => (file === '/flow.ts' ? text : undefined));
}

test('an edited node is distinguished from the others, wherever it is in the file', () => {
  const before = hashes(SOURCE);
  const edited = (text: string): readonly string[] =>
    Object.entries(hashes(text)).flatMap(([name, hash]) => (before[name] === hash ? [] : [name]));
  assert.deepEqual(Object.keys(before), ['flow/a', 'flow/b']);
  assert.deepEqual(edited(`// a line above\n\n${SOURCE}`), []);
  assert.deepEqual(edited(SOURCE.replace('return 2', 'return 3')), ['flow/b']);
  assert.deepEqual(edited(SOURCE.replace('new A()', "new A({ name: 'X' })")), ['flow/a']);
});
