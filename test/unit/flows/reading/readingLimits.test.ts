import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diagnose } from '../../../../src/flows/language/diagnose.ts';
import { readText } from '../reading.ts';

const HEAD = "import { Flow, Node } from 'farwharf/agents';\n";

/** Files of a few lines that multiply themselves, and the message for each. */
const HOSTILE: readonly (readonly [what: string, text: string, problem: RegExp])[] = [
  [
    'a loop that makes nodes',
    `export const f = new Flow({ start: new Node() });
for (let i = 0; i < 10000; i++) f.connect(new Node({ name: 'n' + i }), new Node({ name: 'm' + i }), 'a' + i);`,
    /more than 4,000 nodes/,
  ],
  [
    'loops inside loops that connect the same nodes',
    `const n = Array.from({ length: 64 }, () => new Node()); export const f = new Flow({ start: n[0] });
for (const a of n) for (const b of n) for (const c of ['a', 'b', 'c', 'd', 'e']) f.connect(a, b, c);`,
    /more than 10,000 connections/,
  ],
  [
    'a list that doubles',
    `let a = [1]; for (let i = 0; i < 60; i++) a = [...a, ...a];\nexport const f = new Flow({ start: new Node() });`,
    /more than 500,000 list items/,
  ],
  [
    'an object that is copied for each of its keys',
    `let o = {}; for (let i = 0; i < 10000; i++) o = { ...o, ['k' + i]: i };\nexport const f = new Flow({ start: new Node() });`,
    /more than 500,000 list items/,
  ],
  [
    'lists of lists',
    `const a = Array.from({ length: 10000 }, () => 1); const b = a.flatMap(() => a.map(() => a));\nexport const f = new Flow();`,
    /too large to read/,
  ],
  [
    'flows inside flows',
    `const f = Array.from({ length: 3000 }, () => new Flow());\nfor (let i = 0; i < 2999; i++) f[i].start = f[i + 1];\nexport { f };`,
    /more than 50 levels/,
  ],
  [
    'functions that call each other twice',
    `${Array.from({ length: 30 }, (_, i) => `function f${i}() { f${i + 1}(); f${i + 1}(); }`).join(' ')} function f30() {}\nf0();`,
    /more than [\d,]+ steps/,
  ],
  [
    'a node that writes and reads thousands of keys, again and again',
    `class N extends Node { post(shared) { for (let i = 0; i < 5000; i++) shared['k' + i] = shared[q()]; } }
export const f = new Flow({ start: new N() }); for (let i = 0; i < 1000; i++) f.connect(new N(), new N());`,
    /too large to read/,
  ],
];

for (const [what, text, problem] of HOSTILE) {
  test(`reading ${what} ends at a limit, and one diagnostic names it`, () => {
    const read = readText(HEAD + text);
    const diagnostics = diagnose(read);
    assert.equal(read.unread.filter(({ reason }) => problem.test(reason)).length, 1, JSON.stringify(read.unread));
    assert.equal(diagnostics.filter(({ code, message }) => code === 'unread' && problem.test(message)).length, 1);
    assert.ok(diagnostics.length <= 500, `${diagnostics.length} diagnostics`);
    assert.ok(JSON.stringify(read).length < 8_000_000, `${JSON.stringify(read).length} characters`);
  });
}

test('a text that doubles is no name, and what else the file makes is read', () => {
  const text = `let s = 'x'; for (let i = 0; i < 10000; i++) s = s + s;\nexport const f = new Flow({ start: new Node({ name: s }) });`;
  const read = readText(HEAD + text);
  assert.deepEqual([read.flows.length, read.flows[0]?.nodes.length], [1, 1]);
  assert.ok(JSON.stringify(read).length < 10_000);
});

test('what was found before a limit is shown', () => {
  const text = `const [a, b] = [new Node(), new Node()]; export const f = new Flow({ start: a, name: 'Kept' }).connect(a, b, 'go');
for (;;) for (let i = 0; i < 10000; i++) for (let j = 0; j < 10000; j++) f;`;
  const { flows } = readText(HEAD + text);
  assert.deepEqual(
    flows.map(({ label, start, edges }) => [label, start, edges.map(({ id }) => id)]),
    [['Kept', 'a', ['a:go']]],
  );
});

test('a flow of 2,000 written nodes is far below every limit', () => {
  const count = 2_000;
  const nodes = Array.from({ length: count }, (_, i) => `const n${i} = new Node();`);
  const edges = Array.from({ length: count - 1 }, (_, i) => `f.connect(n${i}, n${i + 1});`);
  const read = readText(`${HEAD}${nodes.join('\n')}\nexport const f = new Flow({ start: n0 });\n${edges.join('\n')}`);
  assert.deepEqual([read.unread, read.flows[0]?.nodes.length, read.flows[0]?.edges.length], [[], count, count - 1]);
});

test('of very many problems the worst are listed, and the last line says how many more there are', () => {
  const nodes = Array.from(
    { length: 3 },
    (_, flow) => `export const f${flow} = new Flow();
for (let i = 0; i < 400; i++) f${flow}.connect(new Node(), new Node(), 'a' + i);`,
  );
  const models = Array.from({ length: 600 }, (_, i) => `new LLMClient({ provider: 'opena${i}' });`);
  const diagnostics = diagnose(
    readText(`import { LLMClient } from 'farwharf/agents';\n${HEAD}${nodes.join('\n')}\n${models.join('\n')}`),
  );
  assert.equal(diagnostics.length, 500);
  assert.equal(diagnostics.filter(({ severity }) => severity === 'error').length, 499);
  assert.equal(diagnostics.filter(({ message }) => /^[\d,]+ more problems/.test(message)).length, 1);
});
