import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, edgesOf, onlyFlow, readText } from '../reading.ts';

const HEAD = `import { Flow, Node, BatchNode, ParallelBatchNode, BaseNode, RAGNode } from 'farwharf/agents';
class A extends Node<object> {}
class B extends Node<object> {}
class C extends Node<object> {}
`;

function edges(code: string): string[] {
  return edgesOf(onlyFlow(readText(HEAD + code)));
}

test('chained calls of connect are read, with the start of the constructor', () => {
  const code = `const [a, b] = [new A(), new B()];
const flow = new Flow({ start: a }).connect(a, b).connect(b, a, 'again').connect(b, null, 'done');`;
  const flow = onlyFlow(readText(HEAD + code));
  assert.equal(flow.start, 'a');
  assert.deepEqual(edgesOf(flow), ['a -default-> b', 'b -again-> a', 'b -done-> .']);
  assert.equal(flow.id, 'flow');
  assert.deepEqual(flow.unread, []);
});

test('separate calls and an assigned start are read', () => {
  const code = `const flow = new Flow();
const a = new A(); const b = new B();
flow.start = b;
flow.connect(b, a);
flow.connect(a, null);`;
  const flow = onlyFlow(readText(HEAD + code));
  assert.equal(flow.start, 'b');
  assert.deepEqual(edgesOf(flow), ['b -default-> a', 'a -default-> .']);
});

test('loops over literal arrays are followed, however they are written', () => {
  const expected = ['nodes.A -default-> nodes.B', 'nodes.B -default-> nodes.C'];
  const nodes = 'const nodes = [new A(), new B(), new C()]; const flow = new Flow({ start: nodes[0] });\n';
  for (const loop of [
    'for (let i = 0; i < nodes.length - 1; i++) flow.connect(nodes[i], nodes[i + 1]);',
    'for (const [i, node] of nodes.entries()) { if (i > 0) flow.connect(nodes[i - 1], node); }',
    'nodes.forEach((node, i) => { const next = nodes[i + 1]; if (next) flow.connect(node, next); });',
    'nodes.slice(1).reduce((before, node) => { flow.connect(before, node); return node; }, nodes[0]);',
    'let before; for (const node of nodes) { if (before !== undefined) flow.connect(before, node); before = node; }',
  ]) {
    assert.deepEqual(edges(nodes + loop), expected, loop);
  }
  const pairs = `const a = new A(), b = new B(), c = new C(); const flow = new Flow({ start: a });
for (const [from, to, action] of [[a, b, 'x'], [b, c, 'y']] as const) flow.connect(from, to, action);`;
  assert.deepEqual(edges(pairs), ['a -x-> b', 'b -y-> c']);
});

test('helper functions, factories and subclasses are followed', () => {
  assert.deepEqual(
    edges(`const a = new A(), b = new B(); const flow = new Flow({ start: a });
const link = (from, to, action) => flow.connect(from, to, action);
link(a, b); link(b, null, 'end');`),
    ['a -default-> b', 'b -end-> .'],
  );
  assert.deepEqual(
    edges(`function chain(...steps) { const made = new Flow({ start: steps[0] });
  steps.forEach((step, i) => made.connect(step, steps[i + 1] ?? null)); return made; }
const a = new A(), b = new B(); export const whole = chain(a, b);`),
    ['a -default-> b', 'b -default-> .'],
  );
  const subclass = onlyFlow(
    readText(`${HEAD}export class Research extends Flow {
  readonly a = new A();
  readonly #b: B;
  constructor() { super({ name: 'Deep' }); this.#b = new B(); this.start = this.a; this.connect(this.a, this.#b); }
}`),
  );
  assert.deepEqual([subclass.id, subclass.label, subclass.className], ['Research', 'Deep', 'Research']);
  assert.deepEqual(edgesOf(subclass), ['a -default-> #b']);
  const used = onlyFlow(
    readText(`${HEAD}class R extends Flow { constructor(first) { const c = new C(); super({ start: first }); this.connect(first, c); } }
const first = new A(); const r = new R(first);`),
  );
  assert.deepEqual([used.id, used.start, ...edgesOf(used)], ['r', 'first', 'first -default-> c']);
});

test('a flow is found in a function that nothing calls, and two flows of one name are distinguished', () => {
  const { flows } = readText(`${HEAD}
export function build() { const a = new A(); return new Flow({ start: a }).connect(a, null); }
export async function other() { const a = new B(); const flow = new Flow({ start: a }); return flow; }
{ const flow = new Flow({ start: new A() }); }
{ const flow = new Flow({ start: new B() }); }
`);
  assert.deepEqual(
    flows.map(({ id, start }) => [id, start]),
    [
      ['build', 'build.a'],
      ['other.flow', 'other.a'],
      ['flow', 'new A'],
      ['flow~2', 'new B'],
    ],
  );
});

test('renamed and namespace imports, require, and classes that extend through others are known', () => {
  for (const [head, flowClass, nodeClass] of [
    ["import { Flow as F, Node as N } from 'farwharf/agents';", 'F', 'N'],
    ["import * as agents from 'farwharf/agents';", 'agents.Flow', 'agents.Node'],
    ["const { Flow, Node } = require('farwharf/agents');", 'Flow', 'Node'],
    ["const { Flow, Node } = await import('farwharf/agents');", 'Flow', 'Node'],
  ]) {
    const flow = onlyFlow(
      readText(`${head}
abstract class Base<T> extends ${nodeClass}<T> { post() { return 'x' as const; } }
const Mid = class extends Base<object> {};
class Leaf extends Mid {}
const leaf = new Leaf(), mid = new Mid();
const flow = new ${flowClass}({ start: leaf }).connect(leaf, mid, 'x');`),
    );
    assert.deepEqual(actionsOf(flow), ['leaf: x', 'mid: x'], head);
    assert.deepEqual(
      flow.nodes.map(({ className, type, label }) => [className, type, label]),
      [
        ['Leaf', 'node', 'Leaf'],
        ['Mid', 'node', 'Mid'],
      ],
    );
  }
});

test('labels are the names that the runtime gives: the option, the class, and ~2 for the second', () => {
  const flow = onlyFlow(
    readText(`${HEAD}class Named extends Node { constructor(options) { super({ ...options, name: 'given' }); } }
const a = new A(), b = new A(), n = new Named({ wait: 1 }), d = new A({ name: process.env.X });
const flow = new Flow({ start: b }).connect(a, n).connect(n, new A()).connect(n, d, 'x').connect(d, new ParallelBatchNode());`),
  );
  assert.deepEqual(
    flow.nodes.map(({ id, label, type }) => `${id}: ${label} ${type}`),
    [
      'b: A node',
      'a: A~2 node',
      'n: given node',
      'new A: A~3 node',
      'd: A~4 node',
      'new ParallelBatchNode: ParallelBatchNode parallel',
    ],
  );
  assert.match(flow.unread[0]?.reason ?? '', /name of this A is only known at run time/);
});

function actions(post: string, extra = ''): string[] {
  return actionsOf(
    onlyFlow(
      readText(`${HEAD}${extra}
class P extends Node<{ x: string }> { ${post} }
const p = new P(); const flow = new Flow({ start: p });`),
    ),
  );
}

test('the actions of post are read from all its branches', () => {
  assert.deepEqual(actions("post() { return 'done'; }"), ['p: done']);
  assert.deepEqual(
    actions("async post(s, p, e) { if (e) return 'a'; else if (p) { return 'b'; } return 'c' as const; }"),
    ['p: a|b|c'],
  );
  assert.deepEqual(actions("post(s, p, e) { return e ? 'a' : p ? 'b' : ''; }"), ['p: a|b|default']);
  assert.deepEqual(
    actions(
      "post(s, p, e) { switch (e) { case 1: return 'one'; case 2: case 3: return 'few'; default: return 'many'; } }",
    ),
    ['p: few|many|one'],
  );
  assert.deepEqual(actions("post(s, p, e) { switch (e) { case 1: return 'one'; } }"), ['p: default|one']);
  assert.deepEqual(actions("post(s, p, e) { let a = 'x'; if (e) a = 'y'; return a; }"), ['p: x|y']);
  assert.deepEqual(actions("post(s, p, e) { let a; if (e) a = 'x'; else a = 'y'; return a; }"), ['p: x|y']);
  assert.deepEqual(actions("post(s, p, e) { try { return 'ok'; } catch { return 'bad'; } }"), ['p: bad|ok']);
  assert.deepEqual(actions("post(s, p, e) { if (!e) throw new Error('no'); return 'ok'; }"), ['p: ok']);
  assert.deepEqual(actions("post(s, p, e) { for (const x of e) { if (x) return 'hit'; } return 'miss'; }"), [
    'p: hit|miss',
  ]);
  assert.deepEqual(actions("post(s, p, e) { while (true) { if (e) return 'out'; } }"), ['p: out']);
  assert.deepEqual(actions("post = async () => 'arrow'"), ['p: arrow']);
  assert.deepEqual(actions('post() {}'), ['p: default']);
  assert.deepEqual(actions(''), ['p: default']);
});

test('actions come from constants, objects, enums, helpers and fields too', () => {
  assert.deepEqual(actions('post() { return DONE; }', "const DONE = 'done';"), ['p: done']);
  assert.deepEqual(
    actions('post(s, p, e) { return e ? Go.on : Go.off; }', "const Go = { on: 'ON', off: 'OFF' } as const;"),
    ['p: OFF|ON'],
  );
  assert.deepEqual(actions('post() { return Go.on; }', "enum Go { on = 'ON' }"), ['p: ON']);
  assert.deepEqual(
    actions('post(s, p, e) { return choose(e); }', "function choose(e) { return e > 1 ? 'big' : 'small'; }"),
    ['p: big|small'],
  );
  assert.deepEqual(actions('next = `go`; post() { return this.next; }'), ['p: go']);
  assert.deepEqual(actions("post(s, p, e) { return e.kind ?? 'none'; }"), ['p: none|?']);
  assert.deepEqual(actions("post(s, p, e): 'a' | 'b' { return e.kind; }"), ['p: a|b']);
  assert.deepEqual(actions('async post(s, p, e): Promise<Next> { return e.kind; }', "type Next = 'a' | void;"), [
    'p: a|default',
  ]);
  assert.deepEqual(actions('post(s, p, e): string { return e.kind; }'), ['p: ?']);
});

test('what a nested flow can end by are its actions as a node', () => {
  const { flows } = readText(`${HEAD}
class End extends Node { post(s, p, e) { return e ? 'good' : 'bad'; } }
const a = new A(), end = new End();
const inner = new Flow({ start: a }).connect(a, end).connect(end, a, 'bad');
const outer = new Flow({ start: inner }).connect(inner, null, 'good');`);
  assert.deepEqual(flows.map(actionsOf), [['a: default', 'end: bad|good'], ['inner: good']]);
  assert.deepEqual([flows[1]?.nodes[0]?.flow, flows[1]?.nodes[0]?.type], ['inner', 'flow']);
});

function keys(hooks: string): { reads: string[]; writes: string[]; unread: number } {
  const flow = onlyFlow(
    readText(`${HEAD}
class K extends Node { ${hooks} }
const k = new K(); const flow = new Flow({ start: k });
function helper(state) { return state.inHelper; }`),
  );
  const [node] = flow.nodes;
  const text = ({ path, isGuarded, isOwn }: { path: readonly string[]; isGuarded: boolean; isOwn: boolean }): string =>
    `${path.join('.')}${isGuarded ? '?' : ''}${isOwn ? '!' : ''}`;
  return {
    reads: node?.reads.map(text) ?? [],
    writes: node?.writes.map(text) ?? [],
    unread: node?.unreadKeys.length ?? 0,
  };
}

test('reads and writes of the shared state are found in every form', () => {
  assert.deepEqual(keys("prep(shared) { return shared.a + shared['b']; }"), {
    reads: ['a', 'b'],
    writes: [],
    unread: 0,
  });
  assert.deepEqual(keys('prep({ a, b: { c }, d: renamed }) { return a; }').reads, ['a', 'b.c', 'd']);
  assert.deepEqual(keys('prep(shared) { const { a, ...rest } = shared; return a; }'), {
    reads: ['a'],
    writes: [],
    unread: 1,
  });
  assert.deepEqual(keys('post(shared, p, e) { shared.a = e; shared.user.name = e; shared.list.push(e); }'), {
    reads: ['user', 'list'],
    writes: ['a', 'user.name', 'list'],
    unread: 0,
  });
  assert.deepEqual(
    keys('post(shared, p, e) { shared.count += 1; shared.a = 1; return helper(shared) + shared.a; }').reads,
    ['count', 'inHelper', 'a!'],
  );
  assert.deepEqual(keys('prep(shared) { return shared.a ?? 1; }').reads, ['a?']);
  assert.deepEqual(keys('prep(shared) { if (shared.a === undefined) return 0; return shared.a; }').reads, ['a?', 'a?']);
  assert.deepEqual(keys('prep({ a = 1 }) { return a; }').reads, ['a?']);
  assert.deepEqual(keys("prep(shared) { return 'a' in shared ? shared.a : shared.b; }").reads, ['a?', 'b']);
  assert.deepEqual(keys('prep(shared) { return shared.a?.b; }').reads, ['a.b?']);
  assert.equal(keys('prep(shared) { return shared[process.argv[2]]; }').unread, 1);
  assert.deepEqual(keys('prep(shared) { return [1].concat(shared.a).map((x) => shared.b + x); }').reads, ['a', 'b']);
  assert.deepEqual(keys('post(shared, p, e) { Object.assign(shared, { a: 1, b: e }); }').writes.sort(), ['a', 'b']);
});

test('what is written before an action counts for that action alone', () => {
  const flow = onlyFlow(
    readText(`${HEAD}
class K extends Node { post(shared, p, e) { shared.always = 1; if (e) return 'no'; if (p) shared.may = 1; shared.then = 2; return 'yes'; } }
const k = new K(); const flow = new Flow({ start: k });`),
  );
  assert.deepEqual(
    flow.nodes[0]?.actions.known.map(({ action, written }) => [action, written]),
    [
      ['no', ['always']],
      ['yes', ['always', 'then']],
    ],
  );
});

test('what cannot be read is reported with its location and reason, and the rest is shown', () => {
  const text = `${HEAD}import { pick } from 'some-package';
const a = new A(), b = new B();
const flow = new Flow({ start: a }).connect(a, b).connect(b, pick(), 'x').connect(a, b, process.argv[2]);`;
  const { unread, flows } = readText(text);
  assert.deepEqual(
    unread.map(({ reason, range }) => [reason, range.start.line, range.start.column]),
    [
      ['The target of a connection cannot be read: `pick()` is only known at run time.', 6, 61],
      ['The action of a connection cannot be read: `process.argv[2]` is only known at run time.', 6, 88],
    ],
  );
  assert.deepEqual(flows.map(edgesOf), [['a -default-> b']]);
  assert.equal(flows[0]?.unread.length, 2);
});

test('summaries are the first sentences of comments', () => {
  const flow = onlyFlow(
    readText(`${HEAD}
/**
 * Decides what is next. And more.
 */
export class D extends Node {}
// Not this one.

class E extends Node {}
// The very
// first one
const d = new D();
const e = new E(), f = new D();
// All of it!
const flow = new Flow({ start: d }).connect(d, e).connect(e, f);`),
  );
  assert.deepEqual(
    flow.nodes.map(({ summary }) => summary),
    ['The very first one', undefined, 'Decides what is next.'],
  );
  assert.equal(flow.summary, 'All of it!');
});

test('the keys that run is given are known where they are written', () => {
  const flow = onlyFlow(
    readText(`${HEAD}const a = new A(); const flow = new Flow({ start: a });
const fresh = () => ({ q: 1, r: 2 });
await flow.run(fresh()); await flow.run({ ...process.env, x: 1 }); flow.run(JSON.parse('{}'));`),
  );
  assert.deepEqual(
    flow.runs.map(({ keys }) => keys),
    [['q', 'r'], undefined, undefined],
  );
});

const PARTS = `import { BatchFlow, Flow, Node, ParallelBatchFlow, ParallelFlow } from 'farwharf/agents';
class A extends Node<object> { post() { return 'done' as const; } }
class B extends Node<object> {}
`;

test('a flow of items is read with its nodes, and returns what its own post returns', () => {
  const { flows, unread } = readText(`${PARTS}class Each extends BatchFlow<object, string> {
  prep(shared) { return shared.texts; }
  post(shared, items, states) { shared.results = states; return items.length > 9 ? 'many' : 'few'; }
}
const [a, b] = [new A(), new B()];
const each = new Each({ start: a }).connect(a, b, 'done').connect(b, null);
const beside = new ParallelBatchFlow({ start: a, concurrency: 4 }).connect(a, null, 'done');
export const flow = new Flow({ start: each }).connect(each, beside, 'many').connect(each, null, 'few').connect(beside, null);`);
  assert.deepEqual(unread, []);
  const main = flows.find(({ id }) => id === 'flow');
  assert.ok(main);
  assert.deepEqual(actionsOf(main), ['each: few|many', 'beside: default']);
  assert.deepEqual(
    main.nodes.map(({ id, type, flow, reads, writes }) => [id, type, flow, reads[0]?.key, writes[0]?.key]),
    [
      ['each', 'batch', 'each', 'texts', 'results'],
      ['beside', 'parallel', 'beside', undefined, undefined],
    ],
  );
  const inner = flows.find(({ id }) => id === 'each');
  assert.equal(inner?.start, 'a');
  assert.deepEqual(inner && edgesOf(inner), ['a -done-> b', 'b -default-> .']);
});

test('branches are read with their names and without connections, and merge is where they join', () => {
  const { flows, unread } = readText(`${PARTS}class Gather extends ParallelFlow<object, 'news' | 'weather'> {
  merge(shared, { news, weather }) { shared.report = news.text; return news.text ? 'full' : undefined; }
}
const a = new A();
const inner = new Flow({ start: a, name: 'reporters' }).connect(a, null, 'done');
const gather = new Gather({ branches: { news: inner, weather: new B() } });
const flow = new Flow({ start: gather }).connect(gather, null, 'full').connect(gather, null);`);
  assert.deepEqual(unread, []);
  const branches = flows.find(({ id }) => id === 'gather');
  assert.equal(branches?.isBranches, true);
  assert.deepEqual(
    branches?.nodes.map(({ label, className, flow, actions }) => [label, className, flow, actions.known.length]),
    [
      ['news', 'Flow', 'inner', 0],
      ['weather', 'B', undefined, 0],
    ],
  );
  const [node] = flows.find(({ id }) => id === 'flow')?.nodes ?? [];
  assert.deepEqual(node?.actions.known.map(({ action }) => action).toSorted(), ['default', 'full']);
  assert.equal(node?.writes[0]?.key, 'report');
  assert.notEqual(node?.ranges.post, undefined);
});

test('branches that are not written in the call are reported as unknown', () => {
  const { unread } = readText(`${PARTS}class Gather extends ParallelFlow { merge() {} }
declare const others: Record<string, A>;
const gather = new Gather({ branches: { a: new A(), ...others } });`);
  assert.equal(unread.length, 1);
  assert.match(unread[0]?.reason ?? '', /There may be more branches/);
});
