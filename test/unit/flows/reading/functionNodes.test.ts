import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyEdits } from '../../../../src/flows/editing/editFlow.ts';
import { diagnose } from '../../../../src/flows/language/diagnose.ts';
import { changedSteps } from '../../../../src/flows/project/changedSteps.ts';
import { FlowProject } from '../../../../src/flows/project/flowProject.ts';
import { actionsOf, edgesOf, memoryHost, onlyFlow, readText } from '../reading.ts';

const TEXT = `import { batchNode, Flow, node } from 'farwharf/agents';
import { clean } from './text.ts';

// Cuts pages.
const cut = batchNode({
  prep: (shared) => shared.pages,
  exec: (page) => clean(page),
  post(shared, _pages, parts) { shared.parts = parts; return parts.length > 1 ? 'join' : 'done'; },
});
const join = node({ name: 'Join', prep: ({ parts }) => parts.join(''), post: (shared, _, text) => void (shared.text = text) });
export const flow = new Flow({ start: cut, name: 'F' }).connect(cut, join, 'join').connect(join, null).connect(cut, null, 'done');
await flow.run({ pages: [] });
`;

test('nodes of functions are read as nodes of classes are', () => {
  const flow = onlyFlow(readText(TEXT));
  assert.deepEqual(edgesOf(flow), ['cut -join-> join', 'join -default-> .', 'cut -done-> .']);
  assert.deepEqual(actionsOf(flow), ['cut: done|join', 'join: default']);
  assert.deepEqual(
    flow.nodes.map(({ label, type, summary, reads, writes }) => [
      label,
      type,
      summary,
      reads.map(({ key }) => key),
      writes.map(({ key }) => key),
    ]),
    [
      ['ParallelBatchNode', 'parallel', 'Cuts pages.', ['pages'], ['parts']],
      ['Join', 'node', undefined, ['parts'], ['text']],
    ],
  );
  const [cut] = flow.nodes;
  const { prep, exec, post, instance } = cut?.ranges ?? {};
  const textOf = (range: typeof prep): string => TEXT.slice(range?.start.offset, range?.end.offset);
  assert.match(textOf(instance), /^batchNode\(\{[^]*\}\)$/);
  assert.deepEqual([textOf(prep), textOf(exec)], ['(shared) => shared.pages', '(page) => clean(page)']);
  assert.match(textOf(post), /^post\(shared/);
  assert.deepEqual(diagnose(readText(TEXT)), []);
});

test('a node whose hooks are written elsewhere has unknown actions, and one in a call its own name', () => {
  const code = `import { Flow, node } from 'farwharf/agents';
import { hooks } from 'elsewhere';
const open = node({ ...hooks });
const flow = new Flow({ start: open }).connect(open, node({ exec: () => 1 }));`;
  const flow = onlyFlow(readText(code));
  assert.deepEqual(actionsOf(flow), ['open: ?', 'node: default']);
});

test('checks find an unconnected action of a node of functions, and each fix resolves it', () => {
  const text = TEXT.replace(".connect(cut, null, 'done')", '');
  const project = new FlowProject(memoryHost({}));
  const [diagnostic, ...others] = diagnose(project.read('/m.ts', text));
  assert.deepEqual([diagnostic?.code, others], ['unconnected-action', []]);
  assert.equal(diagnostic?.fixes.length, 3);
  for (const fix of diagnostic.fixes) {
    assert.ok('operation' in fix);
    const edit = project.edit('/m.ts', text, fix.operation);
    assert.ok(edit.ok, fix.title);
    const left = diagnose(project.read('/m.ts', applyEdits(text, edit.edits)));
    assert.deepEqual(
      left.filter(({ range }) => range.start.offset === diagnostic.range.start.offset),
      [],
      fix.title,
    );
  }
});

test('a step of functions changes with exec and what it calls, not with its other hooks', () => {
  const files = { '/flow.mts': TEXT, '/text.ts': 'export const clean = (text) => text.trim();' };
  const reachOf = (changed: Record<string, string>) => {
    const all = { ...files, ...changed };
    return new FlowProject(memoryHost(all)).reach('/flow.mts', all['/flow.mts']);
  };
  const changes = (changed: Record<string, string>): string[] =>
    Object.keys(changedSteps(reachOf({}), reachOf(changed)) ?? {});
  assert.deepEqual(changes({ '/text.ts': 'export const clean = (text) => text;' }), ['F/ParallelBatchNode']);
  assert.deepEqual(changes({ '/flow.mts': TEXT.replace('clean(page)', 'clean(page + 1)') }), ['F/ParallelBatchNode']);
  assert.deepEqual(changes({ '/flow.mts': TEXT.replace('shared.pages', 'shared.pages.slice(1)') }), []);
});
