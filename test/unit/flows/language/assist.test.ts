import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { temporaryExamples } from '../../../../scripts/trackedFiles.ts';
import { completionsAt } from '../../../../src/flows/language/completions.ts';
import { neighboursAt } from '../../../../src/flows/language/hover.ts';
import { diskHost } from '../../../../src/flows/project/diskHost.ts';
import { applyEdits } from '../../../../src/flows/editing/editFlow.ts';
import { FlowProject } from '../../../../src/flows/project/flowProject.ts';
import { memoryHost } from '../reading.ts';
import { typeErrorsIn } from '../typeCheck.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const HEAD = `import { Flow, Node } from 'farwharf/agents';
class A extends Node { post(shared, p, e) { shared.text = e; return e ? 'more' : 'done'; } }
/** Ends it. */
class B extends Node { prep({ text }) { return text; } }
const a = new A(), b = new B();
const flow = new Flow({ start: a }).connect(a, b, 'more');
flow.run({ input: 1 });
`;

/** What is offered where the bar stands, in a text whose last good state was without it. */
function offered(code: string): string[] {
  const project = new FlowProject(memoryHost({}));
  project.read('/m.js', HEAD);
  const [before = '', after = ''] = code.split('|');
  const text = HEAD + before + after;
  const offset = HEAD.length + before.length;
  return completionsAt(project.read('/m.js', text), text, offset).map(
    ({ text: inserted, from, detail }) => `${text.slice(from, offset)}>${inserted}: ${detail}`,
  );
}

test('nodes and actions are offered inside connect, what is not connected yet first', () => {
  assert.deepEqual(offered("flow.connect(a, b, 'do|"), [
    'do>done: returned by A, not connected yet',
    'do>more: leads to b',
  ]);
  assert.deepEqual(offered('flow.connect(a, b, |)'), [
    ">'done': returned by A, not connected yet",
    ">'more': leads to b",
  ]);
  assert.deepEqual(offered('flow.connect(\n  a,\n  |'), ['>a: A', '>b: Ends it.', '>null: ends the flow']);
  assert.deepEqual(offered('flow.connect(|'), ['>a: A', '>b: Ends it.']);
  assert.deepEqual(offered("flow.connect(unknown, b, '|"), []);
});

test('keys of the shared state are offered after it, and nowhere else', () => {
  assert.deepEqual(offered('class C extends Node { prep(state) { return state.te|'), [
    'te>input: written by run()',
    'te>text: written by A',
  ]);
  assert.deepEqual(offered('class C extends Node { post({ input, | }'), [
    '>input: written by run()',
    '>text: written by A',
  ]);
  assert.deepEqual(offered('class C extends Node { prep(state) { return other.|'), []);
  assert.deepEqual(offered('const x = shared.|'), []);
});

test('a hover on a node or its class shows its neighbours', () => {
  const read = new FlowProject(memoryHost({})).readSource('/m.js', HEAD);
  const at = (text: string, shift: number): unknown =>
    neighboursAt(read, HEAD.indexOf(text) + shift).map(({ node, range, isStart, before, after }) => ({
      node: node.id,
      place: [range.start.line, range.start.column, range.end.column],
      isStart,
      before,
      after,
    }));
  assert.deepEqual(at('connect(a, b', 8), [
    {
      node: 'a',
      place: [5, 44, 45],
      isStart: true,
      before: [],
      after: [
        { label: 'B', action: 'more' },
        { label: undefined, action: 'done' },
      ],
    },
  ]);
  assert.deepEqual(at('class B', 6), [
    {
      node: 'b',
      place: [3, 6, 7],
      isStart: false,
      before: [{ label: 'A', action: 'more' }],
      after: [{ label: undefined, action: 'default' }],
    },
  ]);
  assert.deepEqual(at('return e', 1), []);
});

function renamedAt(text: string, place: string, shift: number, name: string): string {
  const edit = new FlowProject(memoryHost({})).rename('/m.js', text, text.indexOf(place) + shift, name);
  return edit.ok
    ? applyEdits(
        text,
        edit.edits.toSorted((x, y) => x.range.start.offset - y.range.start.offset),
      )
    : edit.reason;
}

test('an action is renamed from any of its places', () => {
  const expected = HEAD.replaceAll("'more'", "'on'");
  assert.equal(renamedAt(HEAD, "'more' :", 2, 'on'), expected);
  assert.equal(renamedAt(HEAD, "b, 'more'", 5, 'on'), expected);
  assert.match(renamedAt(HEAD, "'more'", 1, 'done'), /already returns the action "done"/);
  assert.match(renamedAt(HEAD, 'class A', 1, 'x'), /Only actions and keys/);
});

test('a key is renamed in every node, in patterns, in types and in what run is given', () => {
  const expected = HEAD.replace('shared.text', 'shared.words').replace('{ text }', '{ words: text }');
  assert.equal(renamedAt(HEAD, 'shared.text', 8, 'words'), expected);
  assert.equal(renamedAt(HEAD, '{ text }', 3, 'words'), expected);
  assert.match(renamedAt(HEAD, 'shared.text', 8, 'no name'), /is not a valid key/);
});

test('after keys and actions of an example are renamed it still type-checks', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-rename-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const renames = [
      ['research.mts', 'shared.query', 8, 'wanted'],
      ['research.mts', 'shared.notes', 8, 'remarks'],
      ['research.mts', "'search'", 2, 'look up'],
      ['chat.mts', 'shared.messages', 9, 'said'],
      ['summarize.mts', 'shared.parts', 9, 'pieces'],
      ['summarize.mts', 'shared.whole', 9, 'all'],
    ] as const;
    const examples = join(temporaryExamples(), 'agents');
    const outcomes: string[] = [];
    for (const [index, [name, place, shift, newName]] of renames.entries()) {
      const copy = join(folder, `copy${index}`);
      await mkdir(copy);
      for (const file of globSync('*.mts', { cwd: examples })) {
        await cp(join(examples, file), join(copy, file));
      }
      const file = join(copy, name);
      const text = readFileSync(file, 'utf8');
      const edit = new FlowProject(diskHost).rename(file, text, text.indexOf(place) + shift, newName);
      outcomes.push(edit.ok ? `${newName}: ${edit.edits.length}` : `${newName}: ${edit.reason.replace(folder, '')}`);
      const edits = edit.ok ? edit.edits.toSorted((x, y) => x.range.start.offset - y.range.start.offset) : [];
      await writeFile(file, applyEdits(text, edits));
    }
    assert.deepEqual(outcomes, [
      'wanted: Line 62 of /copy0/research.mts uses shared.query without writing its name. Rename it in the source.',
      'remarks: 5',
      'look up: 2',
      'said: 5',
      'pieces: 5',
      'all: 6',
    ]);
    assert.equal(await typeErrorsIn(folder), '');
  } finally {
    await rm(folder, { recursive: true, maxRetries: 3 });
  }
});
