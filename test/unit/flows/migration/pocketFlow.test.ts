import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Migration, migratePocketFlow } from '../../../../src/flows/migration/pocketFlow.ts';

const lines = (...text: string[]): string => text.map((line) => `${line}\n`).join('');
const alone = (path: string, text: string): Migration => migratePocketFlow(path, text, () => undefined);
const migrated = (text: string, path = 'agent.ts'): string => alone(path, text).text;
const noted = (text: string): string[] =>
  alone('agent.ts', text).unconverted.map(({ line, message }) => `${line}: ${message}`);

const HEAD = "import { Node, Flow } from 'pocketflow';";

test('imports, connections and flows are rewritten, and all else stays as it is', () => {
  const before = lines(
    HEAD,
    '',
    'class Ask extends Node<Shared> { /* as   it was */ }',
    'class Answer extends Node<Shared> {}',
    '',
    'const ask = new Ask(3, 1);',
    'const answer = new Answer();',
    '// ask until it is answered',
    "ask.on('again', ask);",
    'ask.next(answer);',
    '',
    'export const flow = new Flow<Shared>(ask);',
  );
  const after = lines(
    "import { Node, Flow } from 'farwharf/agents';",
    '',
    'class Ask extends Node<Shared> { /* as   it was */ }',
    'class Answer extends Node<Shared> {}',
    '',
    'const ask = new Ask({ maxRetries: 3, wait: 1 });',
    'const answer = new Answer();',
    '// ask until it is answered',
    '',
    'export const flow = new Flow<Shared>({ start: ask })',
    "  .connect(ask, ask, 'again')",
    '  .connect(ask, answer)',
    '  .connect(answer, null);',
  );
  assert.equal(migrated(before), after);
  assert.deepEqual(noted(before), []);
  assert.equal(migrated(after), after, 'a migrated file is not changed again');
});

test('chains: next continues with the next node, on with the same', () => {
  const text = lines(
    HEAD,
    'class A extends Node {}',
    'const [a, b, c, d] = [new A(), new A(), new A(), new A()];',
    "a.next(b).on('x', c).on('default', d);",
    'const start = a;',
    'new Flow(a).run({});',
  );
  assert.match(
    migrated(text),
    /new Flow\(\{ start: a \}\)\n {2}\.connect\(a, b\)\n {2}\.connect\(b, c, 'x'\)\n {2}\.connect\(b, d\)\n {2}\.connect\(c, null\)\n {2}\.connect\(d, null\)\.run/,
  );
});

test('each flow gets the connections that it reaches, also a nested one, in functions and in tabs', () => {
  const text = lines(
    HEAD,
    'class A extends Node {}',
    'function createFlow() {',
    '\tconst a = new A(), b = new A(), c = new A();',
    '\ta.next(b);',
    '\tconst inner = new Flow(a);',
    '\tinner.next(c);',
    '\treturn new Flow(inner);',
    '}',
  );
  assert.equal(
    migrated(text),
    lines(
      "import { Node, Flow } from 'farwharf/agents';",
      'class A extends Node {}',
      'function createFlow() {',
      '\tconst a = new A(), b = new A(), c = new A();',
      '\tconst inner = new Flow({ start: a })',
      '\t\t.connect(a, b)',
      '\t\t.connect(b, null);',
      '\treturn new Flow({ start: inner })',
      '\t\t.connect(inner, c)',
      '\t\t.connect(c, null);',
      '}',
    ),
  );
});

test('what is connected after the flow was made, or in a branch, is connected there', () => {
  const text = lines(
    HEAD,
    'class A extends Node {}',
    'const a = new A();',
    'const flow = new Flow(a);',
    'const b = new A();',
    'if (process.argv[2]) {',
    "  a.on('more', b);",
    '}',
  );
  const after = migrated(text);
  assert.match(after, /new Flow\(\{ start: a \}\);/);
  assert.match(after, /\n {2}flow\.connect\(a, b, 'more'\)\.connect\(b, null\);\n/);
});

test('nodes from other files are known by the flow that starts with one of them; others are listed', () => {
  const text = lines(
    "import { Flow } from 'pocketflow';",
    "import { a, b, c, x, y } from './nodes.ts';",
    "a.next(b).on('again', a);",
    'b.next(c);',
    'export const flow = new Flow(a);',
    'x.next(y);',
  );
  assert.match(
    migrated(text),
    /start: a \}\)\n {2}\.connect\(a, b\)\n {2}\.connect\(b, a, 'again'\)\n {2}\.connect\(b, c\)\n {2}\.connect\(c, null\);\nx\.next\(y\);/,
  );
  assert.deepEqual(noted(text), ['6: connect the nodes of `x.next(y)` with connect of their flow']);
});

test('a node that nothing follows ends the flow with the actions that it returns', () => {
  const text = lines(
    'import { Flow, Node } from "pocketflow";',
    'class Ask extends Node { async post() { return "asked"; } }',
    'class Judge extends Node { async post(_s, _p, isGood) { return isGood ? "good" : undefined; } }',
    'class Other extends Node { async post(_s, _p, action) { return action; } }',
    'const ask = new Ask(), judge = new Judge(), other = new Other();',
    'ask.on("asked", judge);',
    'ask.on("else", other);',
    'const flow = new Flow(ask);',
  );
  assert.match(
    migrated(text, 'agent.js'),
    /\n {2}\.connect\(judge, null, "good"\)\n {2}\.connect\(judge, null\)\n {2}\.connect\(other, null\);\n/,
  );
});

test('an action that contains quotes, backslashes or line breaks stays the same', () => {
  const action = String.raw`it\'s\nC:\\new`;
  const text = lines(
    HEAD,
    `class A extends Node { async post() { return '${action}'; } }`,
    'const a = new A();',
    'const flow = new Flow(a);',
  );
  assert.ok(migrated(text).includes(`.connect(a, null, '${action}');`), migrated(text));
});

test('constructors of nodes and flows pass options, and types of params go', () => {
  const text = lines(
    "import * as pf from 'pocketflow';",
    'class Retrying extends pf.Node<Shared, { key: string }> {',
    '  constructor(private name: string, maxRetries = 3, wait = 0) { super(maxRetries, wait); }',
    '}',
    'class Twice extends Retrying {}',
    'class Sub extends pf.Flow<Shared> {',
    '  constructor() {',
    "    const a = new Retrying('a', 2), b = new Twice('b');",
    '    a.next(b);',
    '    super(a);',
    '  }',
    '}',
    'let f: pf.Flow<Shared, { key: string }>;',
    'const sub = new Sub();',
    'f = new pf.Flow<Shared, object>(sub);',
  );
  assert.equal(
    migrated(text),
    lines(
      "import * as pf from 'farwharf/agents';",
      'class Retrying extends pf.Node<Shared> {',
      '  constructor(private name: string, maxRetries = 3, wait = 0) { super({ maxRetries, wait }); }',
      '}',
      'class Twice extends Retrying {}',
      'class Sub extends pf.Flow<Shared> {',
      '  constructor() {',
      "    const a = new Retrying('a', 2), b = new Twice('b');",
      '    super({ start: a });',
      '    this.connect(a, b);',
      '    this.connect(b, null);',
      '  }',
      '}',
      'let f: pf.Flow<Shared>;',
      'const sub = new Sub();',
      'f = new pf.Flow<Shared>({ start: sub }).connect(sub, null);',
    ),
  );
});

test('a node or flow that is constructed inside of another construction or connection is rewritten too', () => {
  const text = lines(
    HEAD,
    'class A extends Node {}',
    'class Batch extends Flow {}',
    'const a = new A(), b = new A();',
    'a.next(b);',
    'a.on("x", new A(2, 1));',
    'const batch = new Batch(new Flow(a));',
  );
  assert.match(
    migrated(text),
    /new Batch\(\{ start: new Flow\(\{ start: a \}\)\n {2}\.connect\(a, b\)\n {2}\.connect\(a, new A\(\{ maxRetries: 2, wait: 1 \}\), "x"\)\n {2}\.connect\(b, null\) \}\);/,
  );
});

test('CommonJS, Windows line ends and double quotes stay', () => {
  const text = [
    'const { Node: Step, Flow } = require("pocketflow");',
    'class A extends Step {}',
    'const a = new A(), b = new A();',
    'a.next(b);',
    'module.exports = new Flow(a);',
    '',
  ].join('\r\n');
  const after = migrated(text, 'agent.cjs');
  assert.match(after, /require\("farwharf\/agents"\)/);
  assert.equal(after.split('\n').length, after.split('\r\n').length);
  assert.match(after, /new Flow\(\{ start: a \}\)\r\n {2}\.connect\(a, b\)\r\n {2}\.connect\(b, null\);/);
});

const LOAD = lines(
  "import { Node, Flow, BatchFlow } from 'pocketflow';",
  'class Load extends Node<Files, Name> {',
  '  async prep(shared: Files) { return shared.folder; }',
  '  async exec(folder: string) { return read(folder); }',
  '  async post(shared: Files, _folder: string, text: string) {',
  '    shared.texts ??= {};',
  '    shared.texts[this._params.name] = text;',
  '  }',
  '}',
);
const EACH = lines(
  'class Each extends BatchFlow<Files> {',
  '  async prep(shared: Files): Promise<Name[]> { return shared.names.map((name) => ({ name })); }',
  '}',
);

test('the params of a batch flow become a part of its state', () => {
  const text = `${LOAD}class Count extends Node<Files> { post(state) { state.count += 1; } }\n${EACH}${lines(
    'const load = new Load(), count = new Count();',
    'load.next(count);',
    'const flow = new Each(load);',
  )}`;
  const result = migrated(text);
  for (const part of [
    'class Load extends Node<{ shared: Files; params: Name }> {',
    '  async prep({ shared }: { shared: Files; params: Name }) { return shared.folder; }',
    '  async post({ shared, params }: { shared: Files; params: Name }, _folder: string, text: string) {',
    '    shared.texts[params.name] = text;',
    'class Count extends Node<{ shared: Files; params: Record<string, any> }> { post({ shared: state }) { state.count += 1; } }',
    lines(
      'class Each extends BatchFlow<Files, Name, { shared: Files; params: Name }> {',
      '  itemState(shared: Files, params: Name) {',
      '    return { shared, params };',
      '  }',
      '  async prep(shared: Files): Promise<Name[]> {',
    ).slice(0, -2),
  ]) {
    assert.ok(result.includes(part), `${part}\n\nis not in\n\n${result}`);
  }
  assert.deepEqual(noted(text), []);
});

test('params stay where a node may get another state, or uses them where the state is not known', () => {
  const made = 'const load = new Load();\nconst each = new Each(load);\n';
  const usual = `${LOAD}${EACH}${made}`;
  for (const [text, reason] of [
    [`${usual}const other = new Flow(load);\n`, 'in another flow'],
    [`${usual}await load.run({});\n`, 'alone'],
    [`${usual}each.setParams({ name: 'a' });\n`, 'with params of a flow'],
    [usual.replace('read(folder)', 'read(this._params.name)'), 'in exec'],
    [usual.replace('class Load', 'export class Load'), 'in another file'],
    [`${usual}module.exports = { Load };\n`, 'in another file'],
    [usual.replace('    shared.texts ??= {};', '    const params = 1;'), 'hidden by a variable'],
    [
      `${usual}class More extends Load { prep(shared) { return super.prep(shared); } }\nnew Each(new More());\n`,
      'by super',
    ],
    [`${LOAD}${EACH}const each = new Each(found);\n`, 'from elsewhere'],
  ] as const) {
    assert.match(migrated(text), /this\._params\.name/, reason);
    assert.ok(
      noted(text).some((note) => note.includes('_params: there are no params')),
      reason,
    );
    assert.doesNotMatch(migrated(text), /itemState/, reason);
  }
});

test('what cannot be converted stays and is listed by line', () => {
  const text = lines(
    HEAD.replace('Flow', 'Flow, BatchFlow'),
    'class A extends Node {',
    '  prep() { return this._params.key; }',
    '  exec() { return this.currentRetry; }',
    '}',
    'const a = new A(), b = new A();',
    'a.next(b);',
    'const c = a.next(new A());',
    'const args = [1, 2] as const;',
    'new A(...args);',
    'a.setParams({ key: 1 });',
    'class Each extends BatchFlow {}',
  );
  const notes = noted(text);
  assert.deepEqual(
    notes.map((note) => note.replace(/:.*/, '')),
    ['3', '4', '7', '8', '10', '11', '12'],
  );
  assert.match(notes[0] ?? '', /_params: there are no params/);
  assert.match(notes[2] ?? '', /no flow is visible here that reaches a/);
  assert.match(migrated(text), /\na\.next\(b\);\nconst c = a\.next\(new A\(\)\);\n/);
});

test('other uses of on and next, and files without PocketFlow, are left alone', () => {
  const text = lines(
    HEAD,
    "process.on('exit', stop);",
    'const { value } = iterator.next(1);',
    "socket.on('data', read);",
  );
  assert.equal(migrated(text), text.replace('pocketflow', 'farwharf/agents'));
  assert.deepEqual(noted(text), []);
  const other = "import { Node } from 'other';\nconst a = new Node(1);\na.next(b);\n";
  assert.deepEqual(alone('a.ts', other), { text: other, unconverted: [] });
  assert.throws(() => alone('a.ts', 'const = 1;'), { code: 'bad-input', message: /^a\.ts:1: / });
});

test('the example of the documentation is what the command makes of it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/migration.md'), 'utf8');
  const [, before = '', after = ''] =
    /```ts\n\/\/ before\n(.*?)```\n\n```ts\n\/\/ after\n(.*?)```/s.exec(page.slice(page.indexOf('## PocketFlow'))) ??
    [];
  const classes = 'class Ask extends Node {}\nclass Answer extends Node {}\n';
  // The page's formatter joins short chains.
  const joined = (text: string): string => text.replaceAll(/\n\s*\./g, '.');
  assert.notEqual(after, '');
  assert.equal(joined(migrated(classes + before)), joined(classes + after));
});

test('types of params are removed from the classes of PocketFlow, and own classes keep their type arguments', () => {
  const text = lines(
    HEAD,
    'class Ask<S, R> extends Node<S, Params> { constructor(readonly reply: R) { super(2); } }',
    'class Twice extends Ask<number, string> {}',
    'const ask: Ask<number, string> = new Ask<number, string>("x");',
    'const all: Node<number, Params>[] = [ask];',
  );
  const after = migrated(text);
  for (const kept of ['extends Ask<number, string>', ': Ask<number, string> = new Ask<number, string>("x")']) {
    assert.ok(after.includes(kept), after);
  }
  assert.ok(after.includes('class Ask<S, R> extends Node<S> {') && after.includes('all: Node<number>[]'), after);
});

test('a flow whose type names no state gets that of its value, or that which the compiler finds', () => {
  const after = migrated(
    lines(
      HEAD,
      'export function createFlow(): Flow { const a = new A(); a.next(new B()); return new Flow<Shared>(a); }',
      'const named: Flow = createFlow();',
      'export const later = async (): Promise<Flow> => { const flow = new Flow<Shared>(a); return flow; };',
      'class Box { flow: Flow = new Flow<Shared>(a); }',
    ),
  );
  assert.match(after, /createFlow\(\): Flow<Shared> \{/);
  assert.match(after, /const named = createFlow\(\);/);
  assert.match(after, /\(\): Promise<Flow<Shared>> =>/);
  assert.match(after, /flow: Flow<Shared> = new/);
});

test('a type of a flow without a state that the file does not show is listed', () => {
  const text = lines(HEAD, 'function run(flow: Flow): void {}', 'interface Parts { flow: Flow; typed: Flow<Shared> }');
  assert.equal(migrated(text).includes('flow: Flow)'), true);
  const why = 'name the state of the flow, as in Flow<Shared>, because a flow of one state is not a flow of any state';
  assert.deepEqual(noted(text), [`2: ${why}`, `3: ${why}`]);
});

test('what is imported only for its type says so', () => {
  const after = migrated(
    lines(
      HEAD,
      "import { Shared } from './types';",
      "import { Other, make } from './other';",
      "import Client, { Reply } from './client';",
      "import { unused } from './unused';",
      'class A extends Node<Shared> { other: Other = make(); client?: Client; reply?: Reply }',
    ),
  );
  assert.ok(after.includes("import type { Shared } from './types';"), after);
  assert.ok(after.includes("import { type Other, make } from './other';"), after);
  assert.ok(after.includes("import Client, { type Reply } from './client';"), after);
  assert.ok(after.includes("import { unused } from './unused';"), after);
});
