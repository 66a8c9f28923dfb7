import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyEdits } from '../../../../src/flows/editing/editFlow.ts';
import type { FlowOperation } from '../../../../src/flows/graph/flowOperation.ts';
import { FlowProject } from '../../../../src/flows/project/flowProject.ts';
import { memoryHost } from '../reading.ts';

const HEAD = `import { Flow, Node } from 'farwharf/agents';

interface S {
  x: number;
}

class A extends Node<S> {
  override post(shared: S) {
    return shared.x > 1 ? 'more' : 'done';
  }
}
class B extends Node<S> {}

`;
const CHAIN = `${HEAD}const [a, b] = [new A(), new B()];
// The whole.
const flow = new Flow<S>({ start: a })
  .connect(a, b, 'more')
  .connect(b, a);
`;

type InFlow<T> = T extends FlowOperation ? Omit<T, 'flow'> : never;

/** The lines that an operation takes away and those that it adds, or why it was refused. */
function edited(text: string, operation: InFlow<FlowOperation>, others: Record<string, string> = {}): string {
  const project = new FlowProject(memoryHost({ '/main.ts': text, ...others }));
  const edit = project.edit('/main.ts', text, { ...operation, flow: 'flow' });
  if (!edit.ok) return edit.reason;
  const [before, after] = [text, applyEdits(text, edit.edits)].map((one) => one.split('\n'));
  const gone = before?.filter((line) => !after?.includes(line)).map((line) => `-${line}`) ?? [];
  const come = after?.filter((line) => !before?.includes(line)).map((line) => `+${line}`) ?? [];
  return [...gone, ...come].join('\n');
}

test('a connection is added as the flow has them: chained, in a line, as a statement', () => {
  const connect = { type: 'connect', source: 'a', target: null, action: 'done' } as const;
  assert.equal(edited(CHAIN, connect), "-  .connect(b, a);\n+  .connect(b, a)\n+  .connect(a, null, 'done');");
  const line = `${HEAD}const a = new A();\nconst flow = new Flow<S>({ start: a }).connect(a, a, "more")\n`;
  assert.match(edited(line, connect), /\.connect\(a, a, "more"\)\.connect\(a, null, 'done'\)$/);
  const statements = `${HEAD}const a = new A();\nconst flow = new Flow<S>({ start: a });\nflow.connect(a, a, 'more'); // round\nrun();\n`;
  assert.equal(edited(statements, connect), "+flow.connect(a, null, 'done');");
  const none = `${HEAD}const a = new A();\nconst flow = new Flow<S>({ start: a });\n`;
  assert.match(edited(none, connect), /^\+const flow = new Flow<S>\(\{ start: a \}\)\.connect\(a, null, 'done'\);$/m);
});

test('a connection that is there is led elsewhere by one word', () => {
  const text = edited(CHAIN, { type: 'connect', source: 'a', target: null, action: 'more' });
  assert.equal(text, "-  .connect(a, b, 'more')\n+  .connect(a, null, 'more')");
});

test('an edge is deleted out of its chain, or with its statement', () => {
  assert.equal(edited(CHAIN, { type: 'deleteEdge', edge: 'a:more' }), "-  .connect(a, b, 'more')");
  const statements = `${HEAD}const a = new A();\nconst flow = new Flow<S>({ start: a });\nflow.connect(a, a, 'more'); // round\n`;
  assert.equal(edited(statements, { type: 'deleteEdge', edge: 'a:more' }), "-flow.connect(a, a, 'more'); // round");
});

test('a node is deleted with its connections and its variable; its class stays', () => {
  assert.equal(
    edited(CHAIN, { type: 'deleteNode', node: 'b' }),
    "-const [a, b] = [new A(), new B()];\n-  .connect(a, b, 'more')\n-  .connect(b, a);\n+const [a] = [new A()];\n+const flow = new Flow<S>({ start: a });".replace(
      '\n-  .connect(a',
      '\n-const flow = new Flow<S>({ start: a })\n-  .connect(a',
    ),
  );
});

test('a start is set in the options, in an assignment, or where there was none', () => {
  const set = { type: 'setStart', node: 'b' } as const;
  assert.match(edited(CHAIN, set), /\+const flow = new Flow<S>\(\{ start: b \}\)/);
  const bare = `${HEAD}const a = new A(), b = new B();\nconst flow = new Flow<S>().connect(a, b, 'more');\n`;
  assert.match(edited(bare, set), /new Flow<S>\(\{ start: b \}\)\.connect/);
  const named = bare.replace('Flow<S>()', "Flow<S>({ name: 'F' })");
  assert.match(edited(named, set), /new Flow<S>\(\{ start: b, name: 'F' \}\)/);
  const assigned = `${bare}flow.start = a;\n`;
  assert.equal(edited(assigned, set), '-flow.start = a;\n+flow.start = b;');
  const shorthand = bare
    .replace('Flow<S>()', 'Flow<S>({ start })')
    .replace('const a = new A()', 'const start = new A(), a = start');
  assert.match(edited(shorthand, set), /\{ start: b \}/);
});

test('a new node gets a class in the style of the file, a variable and its place', () => {
  assert.equal(
    edited(CHAIN, { type: 'addNode', className: 'Review', from: { node: 'a', action: 'done' } }),
    `-  .connect(b, a);
+class Review extends Node<S, string, string> {
+  override prep(_shared: S): string {
+    return '';
+  override exec(input: string): string {
+    return input;
+  override post(_shared: S, _input: string, _result: string): void {}
+const review = new Review();
+  .connect(b, a)
+  .connect(a, review, 'done');`,
  );
  const between = edited(CHAIN, { type: 'addNode', className: 'Review', from: { node: 'a', action: 'more' } });
  assert.match(
    between,
    /\+ {2}\.connect\(a, review, 'more'\)\n\+ {2}\.connect\(b, a\)\n\+ {2}\.connect\(review, b\);$/,
  );
  assert.match(
    edited(CHAIN, { type: 'addNode', className: 'A', from: { node: 'a', action: 'x' } }),
    /already uses the name A/,
  );
  assert.match(
    edited(CHAIN, { type: 'addNode', className: 'no good', from: { node: 'a', action: 'x' } }),
    /is not a valid class name/,
  );
});

test('an action is renamed where it is returned, typed and connected, in all nodes that share it', () => {
  const text = `${HEAD}const [a, twin, b] = [new A(), new A(), new B()];
const inner = new Flow<S>({ start: twin });
const flow = new Flow<S>({ start: a }).connect(a, inner, 'more').connect(inner, b, 'more').connect(b, a);
`.replace('post(shared: S) {', "post(shared: S): 'more' | 'done' {");
  const lines = edited(text, { type: 'renameAction', source: 'a', action: 'more', newAction: "it's more" });
  assert.match(lines, /\+ {2}override post\(shared: S\): 'it\\'s more' \| 'done' \{/);
  assert.match(lines, /\+ {4}return shared\.x > 1 \? 'it\\'s more' : 'done';/);
  assert.match(lines, /connect\(a, inner, 'it\\'s more'\)\.connect\(inner, b, 'it\\'s more'\)\.connect\(b, a\)/);
  assert.match(
    edited(text, { type: 'renameAction', source: 'a', action: 'more', newAction: 'done' }),
    /already returns the action "done"/,
  );
  assert.match(
    edited(text, { type: 'renameAction', source: 'b', action: 'default', newAction: 'x' }),
    /does not write the action/,
  );
});

test('an action from another file is renamed there', () => {
  const text = `import { Flow } from 'farwharf/agents';\nimport { W, GO } from './w.ts';\nconst w = new W();\nconst flow = new Flow({ start: w }).connect(w, null, GO);\n`;
  const other =
    "import { Node } from 'farwharf/agents';\nexport const GO = 'go';\nexport class W extends Node { post() { return GO; } }\n";
  const project = new FlowProject(memoryHost({ '/main.ts': text, '/w.ts': other }));
  const edit = project.edit('/main.ts', text, {
    type: 'renameAction',
    flow: 'flow',
    source: 'w',
    action: 'go',
    newAction: 'run',
  });
  assert.deepEqual(edit.ok && edit.edits.map(({ range, text: to }) => [range.file, range.start.line, to]), [
    ['/w.ts', 1, "'run'"],
  ]);
});

test('nodes become a flow of their own', () => {
  const text = `${HEAD}const a = new A();
const b = new B();
const c = new B();
const flow = new Flow<S>({ start: c })
  .connect(c, a)
  .connect(a, b, 'more')
  .connect(b, a)
  .connect(a, c, 'done');
`;
  assert.equal(
    edited(text, { type: 'extractFlow', nodes: ['a', 'b'], name: 'Inner' }),
    `-  .connect(c, a)
-  .connect(a, c, 'done');
+const inner = new Flow<S>({ start: a, name: 'Inner' })
+  .connect(a, null, 'done');
+  .connect(c, inner)
+  .connect(inner, c, 'done');`,
  );
  assert.match(edited(text, { type: 'extractFlow', nodes: ['b', 'c'], name: 'Inner' }), /has one start/);
});

test('what cannot be done safely is refused, with the reason and what to do', () => {
  const loop = `${HEAD}const nodes = [new A(), new A(), new B()];
const flow = new Flow<S>({ start: nodes[0] });
for (const node of nodes) flow.connect(node, nodes[2], 'more');
`;
  assert.match(
    edited(loop, { type: 'deleteEdge', edge: 'nodes.A:more' }),
    /one of 3 that a single call makes, in a loop or a helper/,
  );
  const inPlace = `${HEAD}const flow = new Flow<S>({ start: new A() }).connect(new A(), new B(), 'more');\n`;
  assert.match(
    edited(inPlace, { type: 'connect', source: 'new B', target: null, action: 'default' }),
    /has no name because it is created in place/,
  );
  assert.match(
    edited(`${CHAIN}const x = `, { type: 'deleteEdge', edge: 'a:more' }),
    /syntax error|no longer has a flow/,
  );
  assert.match(edited(CHAIN, { type: 'deleteEdge', edge: 'a:gone' }), /no longer has a connection "a:gone"/);
  const dynamic = CHAIN.replace("'more')", 'process.argv[2])');
  assert.match(edited(dynamic, { type: 'setStart', node: 'gone' }), /no longer has a node "gone"/);
  const others = {
    '/w.ts':
      "import { Flow, Node } from 'farwharf/agents';\nexport const w = new Node();\nexport const flow = new Flow({ start: w }).connect(w, w);",
  };
  const elsewhere =
    "import { Flow, Node } from 'farwharf/agents';\nimport { flow, w } from './w.ts';\nconst b = new Node();\nflow.connect(w, b, 'x');\n";
  const project = new FlowProject(memoryHost({ '/main.ts': elsewhere, ...others }));
  const [graph] = project.read('/main.ts', elsewhere).flows;
  const refused = project.edit('/main.ts', elsewhere, { type: 'deleteEdge', flow: graph?.id ?? '', edge: 'w:default' });
  assert.match(refused.ok ? '' : refused.reason, /is (?:created )?in \/w\.ts\. Edit it there/);
});

test('line ends, tabs and missing semicolons stay as they are', () => {
  const text = CHAIN.replaceAll('\n', '\r\n').replaceAll('  ', '\t').replaceAll(';', '').replaceAll("'", '"');
  const project = new FlowProject(memoryHost({}));
  const edit = project.edit('/main.ts', text, {
    type: 'addNode',
    flow: 'flow',
    className: 'Go',
    from: { node: 'a', action: 'done' },
  });
  const after = edit.ok ? applyEdits(text, edit.edits) : edit.reason;
  assert.match(
    after,
    /\r\nclass Go extends Node<S, string, string> \{\r\n\toverride prep\(_shared: S\): string \{\r\n\t\treturn ""\r\n/,
  );
  assert.match(after, /const go = new Go\(\)\r\n\/\/ The whole\.\r\n/);
  assert.match(after, /\r\n\t\.connect\(b, a\)\r\n\t\.connect\(a, go, "done"\)\r\n$/);
  assert.doesNotMatch(after, /[^\r]\n|;/);
});
