import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diagnose } from '../../../../src/flows/language/diagnose.ts';
import type { FlowDiagnostic } from '../../../../src/flows/language/diagnostic.ts';
import { applyEdits } from '../../../../src/flows/editing/editFlow.ts';
import { FlowProject } from '../../../../src/flows/project/flowProject.ts';
import { memoryHost, readText } from '../reading.ts';

const HEAD = `import { Flow, LLMClient, Node } from 'farwharf/agents';
class A extends Node { post(s, p, e) { return e ? 'more' : 'done'; } }
class B extends Node {}
`;

function found(code: string): FlowDiagnostic[] {
  return diagnose(readText(HEAD + code));
}

function codes(code: string): string[] {
  return found(code).map(
    ({ code: name, severity, range }) => `${name} ${severity} ${range.start.line}:${range.start.column}`,
  );
}

test('a sound flow has nothing to tell', () => {
  const code = `const a = new A(), b = new B();
const flow = new Flow({ start: a }).connect(a, b, 'more').connect(a, null, 'done').connect(b, a);`;
  assert.deepEqual(found(code), []);
});

test('an action without a connection is reported where it is returned, and every fix resolves it', () => {
  const text = `${HEAD}const a = new A(), b = new B();
const flow = new Flow({ start: a }).connect(a, b, 'more').connect(b, null);`;
  const project = new FlowProject(memoryHost({}));
  const read = project.read('/m.js', text);
  const [diagnostic, ...others] = diagnose(read);
  assert.deepEqual(others, []);
  assert.equal(diagnostic?.code, 'unconnected-action');
  assert.match(diagnostic.message, /"A" can return the action "done", but Flow has no connection for it/);
  assert.equal(text.slice(diagnostic.range.start.offset, diagnostic.range.end.offset), "'done'");
  assert.deepEqual(
    diagnostic.fixes.map(({ title }) => title),
    ['End the flow at "done"', 'Connect "done" to B', 'Create a node Done for "done"'],
  );
  for (const fix of diagnostic.fixes) {
    assert.ok('operation' in fix);
    const edit = project.edit('/m.js', text, fix.operation);
    assert.ok(edit.ok, fix.title);
    const after = applyEdits(text, edit.edits);
    const left: FlowDiagnostic[] = diagnose(project.read('/m.js', after)).filter(
      ({ range }) => range.start.offset === diagnostic.range.start.offset,
    );
    assert.deepEqual(left, [], fix.title);
  }
});

test('a connection for an action that is never returned is reported, with a suggestion', () => {
  const [fault] = found(`const a = new A();
const flow = new Flow({ start: a }).connect(a, a, 'mroe').connect(a, null, 'done').connect(a, a, 'more');`);
  assert.deepEqual([fault?.code, fault?.severity], ['unused-connection', 'warning']);
  assert.match(fault?.message ?? '', /"A" never returns the action "mroe" \(it returns "more", "done"\)/);
  assert.deepEqual(
    fault?.fixes.map(({ title }) => title),
    ['Change to "more"', 'Change to "done"', 'Delete the connection'],
  );
  const [first] = fault?.fixes ?? [];
  assert.ok(first !== undefined && 'edits' in first);
  assert.deepEqual([first.edits[0]?.text, first.edits[0]?.range.start.column], ['more', 51]);
});

test('a missing start, unreachable nodes and loops without an exit are reported', () => {
  assert.deepEqual(codes('const b = new B(); const flow = new Flow().connect(b, null);'), ['no-start error 3:32']);
  const loose =
    "const a = new A(), b = new B(), c = new B(); const flow = new Flow({ start: b }).connect(b, null).connect(a, c, 'more').connect(a, null, 'done');";
  assert.deepEqual(codes(loose), ['unreachable-node warning 3:10', 'unreachable-node warning 3:36']);
  const endless =
    'const b = new B(), c = new B(), d = new B(); const flow = new Flow({ start: d }).connect(d, b).connect(b, c).connect(c, b);';
  assert.deepEqual(codes(endless), ['endless-cycle warning 3:10']);
  assert.match(found(endless)[0]?.message ?? '', /The loop B~2 → B~3 → B~2 has no exit/);
  assert.deepEqual(codes('const flow = new Flow(); export { flow };'), ['no-start hint 3:13']);
});

test('code that hides a part of the flow is reported, and turns problems into hints', () => {
  const reported = codes("const a = new A(); const flow = new Flow({ start: a }).connect(a, pick(), 'more');");
  assert.deepEqual(reported, ['unconnected-action hint 1:50', 'unconnected-action hint 1:59', 'unread hint 3:66']);
  assert.deepEqual(codes('const flow = new Flow({ start: pick() }); flow.run({});'), [
    'no-start hint 3:13',
    'unread hint 3:31',
  ]);
});

const KEYS = `class Put extends Node { post(shared, p, e) { if (e) return 'skip'; shared.k = 1; return 'put'; } }
class Get extends Node { prep(shared) { return shared.k; } }
const put = new Put(), get = new Get();
`;

test('a key that is read before it is written on some path is reported', () => {
  const both = `${KEYS}const flow = new Flow({ start: put }).connect(put, get, 'put').connect(put, get, 'skip').connect(get, null);`;
  assert.deepEqual(codes(both), ['unwritten-key hint 4:54']);
  assert.match(found(both)[0]?.message ?? '', /"Get" reads shared\.k, but not every path to this node writes it first/);
  assert.deepEqual(codes(`${both} flow.run({ other: 1 });`), ['unwritten-key warning 4:54']);
  assert.deepEqual(codes(`${both} flow.run({ k: 1 });`), []);
  assert.deepEqual(
    codes(
      both
        .replace("'skip').connect(get", "'skip').connect(get")
        .replace(".connect(put, get, 'skip')", ".connect(put, null, 'skip')"),
    ),
    [],
  );
  const input =
    'class Get extends Node { prep(shared) { return shared.k; } } const get = new Get(); const flow = new Flow({ start: get }).connect(get, null);';
  assert.deepEqual(codes(input), [], 'it may be an input');
  assert.match(found(`${input} flow.run({});`)[0]?.message ?? '', /but nothing writes it/);
});

test('keys are followed into nested flows and out of them', () => {
  const nested = `${KEYS}const inner = new Flow({ start: put, name: 'Inner' }).connect(put, null, 'put').connect(put, null, 'skip');
const outer = new Flow({ start: inner }).connect(inner, get, 'put').connect(inner, null, 'skip').connect(get, null); outer.run({});`;
  assert.deepEqual(codes(nested), []);
  assert.deepEqual(codes(nested.replace("connect(inner, null, 'skip')", "connect(inner, get, 'skip')")), [
    'unwritten-key warning 4:54',
  ]);
  const reading = `${KEYS}const inner = new Flow({ start: get, name: 'Inner' }).connect(get, null);
const outer = new Flow({ start: put }).connect(put, inner, 'put').connect(put, inner, 'skip').connect(inner, null); outer.run({});`;
  assert.deepEqual(codes(reading), ['unwritten-key warning 4:54']);
});

test('unknown providers and models of LLMClient are reported', () => {
  const [fault, ...others] = found("const m = new LLMClient({ provider: 'antropic' });");
  assert.deepEqual([fault?.code, fault?.severity, others], ['unknown-provider', 'error', []]);
  assert.deepEqual(
    fault?.fixes.map(({ title }) => title),
    ['Change to "anthropic"'],
  );
  assert.deepEqual(codes("class C extends B { exec() { return new LLMClient({ model: 'gtp-4o' }).ask('x'); } }"), [
    'unknown-model warning 3:59',
  ]);
  assert.deepEqual(codes("new LLMClient({ provider: 'anthropic', model: 'gpt-4o' });"), ['unknown-model warning 3:46']);
  for (const fine of [
    "{ model: 'gpt-4o' }",
    "{ provider: 'groq', model: 'deepseek-r1' }",
    "{ model: 'x', baseUrl: 'http://h/v1' }",
    '',
    "{ provider: process.env.P, model: 'gpt-4o' }",
    "{ provider: 'vscode', model: 'gpt-4o' }",
  ]) {
    assert.deepEqual(codes(`new LLMClient(${fine});`), [], fine);
  }
});

test('for a text that does not parse, only its error is reported', () => {
  const project = new FlowProject(memoryHost({}));
  const good = `${HEAD}const b = new B(); const flow = new Flow().connect(b, null);`;
  project.read('/m.js', good);
  const [syntax, ...others] = diagnose(project.read('/m.js', `${good} const x = `));
  assert.deepEqual([syntax?.code, others], ['syntax', []]);
  assert.match(syntax?.message ?? '', /Unexpected token\. The last version without errors is shown/);
});

test('a key that is probably a misspelling of a written one is reported, with a fix; a plural is not', () => {
  const code = `class W extends Node { post(s) { s.result = 1; s.note = 2; } }
class R extends Node { prep(s) { return [s.reslut, s.notes, s.topic]; } }
const w = new W(), r = new R();
export const flow = new Flow({ start: w }).connect(w, r).connect(r, null);`;
  const [diagnostic, ...others] = found(code);
  assert.deepEqual(others, []);
  assert.match(diagnostic?.message ?? '', /reads shared.reslut, but nothing writes it. Did you mean "result"\?/);
  const [fix] = diagnostic?.fixes ?? [];
  assert.ok(fix !== undefined && 'edits' in fix);
  assert.match(applyEdits(HEAD + code, fix.edits), /return \[s.result, s.notes/);
});

test('an action of a table of constants is one of its values, in TypeScript', () => {
  const code = `class W extends Node<{ x?: 'f' }> { post(s: { x?: 'f' }) { return ({ a: 'one', f: 'two' } as const)[s.x ?? 'f']; } }
const w = new W();
export const flow = new Flow({ start: w }).connect(w, null, 'one').connect(w, null, 'two');`;
  assert.deepEqual(diagnose(new FlowProject(memoryHost({})).read('/m.mts', HEAD + code)), []);
});

test('a connection that a later one replaces is reported', () => {
  const code = `const a = new A(), b = new B();
const flow = new Flow({ start: a }).connect(a, b, 'more').connect(a, null, 'done').connect(b, a).connect(a, null, 'more');`;
  assert.deepEqual(
    codes(code).filter((one) => one.startsWith('replaced')),
    ['replaced-connection warning 4:36'],
  );
});

test('a key that nodes only change, not create, is an input', () => {
  const flow = (change: string): string => `class L extends Node { post(s) { ${change}; } }
const l = new L();
export const flow = new Flow({ start: l }).connect(l, null);`;
  for (const change of ["s.log.push('x')", 's.count += 1', 's.user.name = 1']) {
    assert.deepEqual(codes(flow(change)), [], change);
    assert.deepEqual(codes(`${flow(change)} flow.run({});`).length, 1, change);
  }
});

test('a ToolNode is a node that reads the messages and writes the answer', () => {
  const flow = (options: string): string => `class R extends Node { prep(s) { return s.answer; } }
const tools = new ToolNode({ client, tools: []${options} }), r = new R();
const flow = new Flow({ start: tools }).connect(tools, r).connect(r, null);`;
  const code = (options: string, shared: string): string[] =>
    diagnose(
      new FlowProject(memoryHost({})).read(
        '/m.js',
        `import { ToolNode } from 'farwharf/agents';\n${HEAD}${flow(options)} flow.run({ ${shared} });`,
      ),
    ).map(({ message }) => message);
  assert.deepEqual(code('', 'messages: []'), []);
  assert.match(code('', '').join(), /"ToolNode" reads shared.messages, but nothing writes it/);
  assert.match(code(", outputKey: 'reply'", 'messages: []').join(), /"R" reads shared.answer, but nothing writes it/);
});
