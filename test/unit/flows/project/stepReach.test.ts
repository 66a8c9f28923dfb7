import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlowProject } from '../../../../src/flows/project/flowProject.ts';
import { changedSteps } from '../../../../src/flows/project/changedSteps.ts';
import { memoryHost } from '../reading.ts';

const FLOW = `
import { Flow, Node } from 'farwharf/agents';
import { clean, type Text } from './text.ts';
import * as tables from './tables.js';
import config from './config.json';
const limit = 3;
function short(text) { return text.slice(0, limit); }
class Clean extends Node {
  prep(s) { return s.text; }
  exec(text: Text) { return this.twice(clean(text)); }
  twice(text) { return text + text; }
  post(s, _, text) { s.text = text; }
}
class Shorten extends Node {
  exec(text) { return short(text) + config.suffix; }
}
class Find extends Node {
  exec(key) { return tables.find(key); }
}
const [a, b, c] = [new Clean(), new Shorten(), new Find()];
const inner = new Flow({ start: c, name: 'Inner' }).connect(c, null);
export const flow = new Flow({ start: a, name: 'F' }).connect(a, b).connect(b, inner).connect(inner, null);
`;
const FILES = {
  '/text.ts': `import { trim } from './deep/trim.ts';
export interface Text { kind: string }
export function clean(text) { return trim(text); }
export function unused(text) { return text; }`,
  '/deep/trim.ts':
    'const spaces = / +/g;\nexport const trim = (text) => text.replace(spaces, " ");\nexport const other = 1;',
  '/tables.js': "const table = new Map();\ntable.set('a', 1);\nmodule.exports.find = (key) => table.get(key);",
  '/config.json': '{ "suffix": "…" }',
};

/** What changes when texts of the files are replaced. */
function changed(replacements: Readonly<Record<string, readonly [from: string, to: string]>>): unknown {
  const before: Record<string, string> = { '/flow.mts': FLOW, ...FILES };
  const after = { ...before };
  for (const [file, [from, to]] of Object.entries(replacements)) {
    assert.ok(before[file]?.includes(from), from);
    after[file] = (before[file] ?? '').replace(from, to);
  }
  const reach = (files: Record<string, string>) =>
    new FlowProject(memoryHost(files)).reach('/flow.mts', files['/flow.mts'] ?? '');
  return changedSteps(reach(before), reach(after));
}

test('a step is stale when code that it reaches has changed: a helper, what that calls, a constant, a method, a data file', () => {
  assert.deepEqual(changed({ '/text.ts': ['return trim(text)', 'return trim(text) + 1'] }), { 'F/Clean': 'text.ts' });
  assert.deepEqual(changed({ '/deep/trim.ts': ['/ +/g', '/ /g'] }), { 'F/Clean': 'deep/trim.ts' });
  assert.deepEqual(changed({ '/flow.mts': ['limit = 3', 'limit = 4'] }), { 'F/Shorten': 'flow.mts' });
  assert.deepEqual(changed({ '/flow.mts': ['text + text', 'text'] }), { 'F/Clean': 'flow.mts' });
  assert.deepEqual(changed({ '/config.json': ['…', '...'] }), { 'F/Shorten': 'config.json' });
  assert.deepEqual(changed({ '/tables.js': ["'a', 1", "'a', 2"] }), {
    'F/Inner/Find': 'tables.js',
    'Inner/Find': 'tables.js',
  });
});

test('a step is not stale when other code has changed: another step, post, a type, an unused helper, lines above', () => {
  assert.deepEqual(changed({ '/flow.mts': ['s.text = text;', 's.text = text; s.done = true;'] }), {});
  assert.deepEqual(changed({ '/text.ts': ['kind: string', 'kind: number'] }), {});
  assert.deepEqual(changed({ '/text.ts': ['{ return text; }', '{ return text + 1; }'] }), {});
  assert.deepEqual(changed({ '/deep/trim.ts': ['other = 1', 'other = 2'] }), {});
  assert.deepEqual(changed({ '/flow.mts': ['const limit', '// a comment\n\nconst limit'] }), {});
  assert.deepEqual(changed({ '/flow.mts': ["name: 'F'", "name: 'F', extra: 1"] }), {});
});

test('files that import each other, missing files and packages are no obstacle', () => {
  const files = {
    '/flow.mts': `import { Flow, Node } from 'farwharf/agents'; import { a } from './a.ts'; import fs from 'node:fs'; import { x } from './gone.ts';
class N extends Node { exec() { return a() + fs.x + x; } }
const n = new N(); export const flow = new Flow({ start: n }).connect(n, null);`,
    '/a.ts': `import { b } from './b.ts'; export const a = () => b();`,
    '/b.ts': `import { a } from './a.ts'; export { a as c } from './a.ts'; export const b = () => a();`,
  };
  const reach = new FlowProject(memoryHost(files)).reach('/flow.mts', files['/flow.mts']);
  assert.deepEqual(Object.keys(reach['Flow/N'] ?? {}).sort(), ['a.ts', 'b.ts', 'flow.mts']);
});

test("a step is stale when options of the library's own node have changed, but not those that only repeat exec", () => {
  const flow = (options: string): Record<string, string> => ({
    '/flow.mts': `import { Flow, ToolNode } from 'farwharf/agents';
import { depth } from './tools.ts';
class Plan extends ToolNode {}
const [a, b] = [new ToolNode({ tools: [depth], ${options} }), new Plan({ tools: [depth], ${options} })];
export const flow = new Flow({ start: a, name: 'F' }).connect(a, b).connect(b, null);`,
    '/tools.ts': 'const depths = { oslo: 11 };\nexport const depth = { run: (name) => depths[name] };',
  });
  const reach = (files: Record<string, string>) =>
    new FlowProject(memoryHost(files)).reach('/flow.mts', files['/flow.mts'] ?? '');
  const before = flow('maxSteps: 3');
  const steps = { 'F/ToolNode': 'tools.ts', 'F/Plan': 'tools.ts' };
  const tools = (before['/tools.ts'] ?? '').replace('11', '12');
  assert.deepEqual(changedSteps(reach(before), reach({ ...before, '/tools.ts': tools })), steps);
  const changed = changedSteps(reach(before), reach(flow('maxSteps: 4')));
  assert.deepEqual(changed, { 'F/ToolNode': 'flow.mts', 'F/Plan': 'flow.mts' });
  assert.deepEqual(changedSteps(reach(before), reach(flow('maxSteps: 3, maxRetries: 2'))), {});
});
