import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryExamples } from '../../../../scripts/trackedFiles.ts';
import { completionsAt } from '../../../../src/flows/language/completions.ts';
import { neighboursAt } from '../../../../src/flows/language/hover.ts';
import { diagnose } from '../../../../src/flows/language/diagnose.ts';
import { diskHost } from '../../../../src/flows/project/diskHost.ts';
import { FlowProject, readFlows } from '../../../../src/flows/project/flowProject.ts';
import { actionsOf, edgesOf, memoryHost, onlyFlow, readText } from '../reading.ts';

const MAIN = '/flows/main.ts';

test('nodes, classes and actions come from other files through relative imports', () => {
  const others = {
    '/flows/base.ts': `import { Node } from 'farwharf/agents'; export default class Base extends Node { post() { return DONE; } }
export const DONE = 'done';`,
    '/flows/nodes/index.ts': `import Base from '../base.js'; export { DONE as FINISHED } from '../base';
export class Work extends Base {} export const work = new Work(); export * from './more.mjs';`,
    '/flows/nodes/more.mts': `import { Flow } from 'farwharf/agents'; import { work } from './index.ts';
export const nested = new Flow({ start: work, name: 'Nested' });`,
  };
  const text = `import { Flow } from 'farwharf/agents'; import { work, nested, FINISHED } from './nodes'; import * as all from './nodes/index';
export const flow = new Flow({ start: work }).connect(work, nested, FINISHED).connect(nested, new all.Work(), 'done');`;
  const { flows, dependencies } = readText(text, others);
  assert.deepEqual(dependencies.toSorted(), ['/flows/base.ts', '/flows/nodes/index.ts', '/flows/nodes/more.mts']);
  assert.deepEqual(
    flows.map(({ id, label }) => [id, label]),
    [
      ['flow', 'Flow'],
      ['./nodes/more.mts#nested', 'Nested'],
    ],
  );
  const [flow] = flows;
  assert.deepEqual(flow === undefined ? [] : edgesOf(flow), ['work -done-> nested', 'nested -done-> new Work']);
  assert.equal(flow?.nodes[1]?.flow, './nodes/more.mts#nested');
  assert.equal(flow?.nodes[0]?.ranges.class?.file, '/flows/nodes/index.ts');
});

test('files that import each other, or are not there, end nothing', () => {
  const others = { '/flows/b.ts': "import { flow } from './main.ts'; export const b = flow;" };
  const text = `import { Flow, Node } from 'farwharf/agents'; import { b } from './b.ts'; import { gone } from './gone.ts';
export const flow = new Flow({ start: new Node() }); flow.connect(b, gone);`;
  const { unread } = readText(text, others);
  assert.match(unread.map(({ reason }) => reason).join('\n'), /`gone` comes from \.\/gone\.ts, which cannot be read/);
});

test('a keystroke parses one file again', () => {
  const files: Record<string, string> = {
    '/flows/a.ts': "import { Node } from 'farwharf/agents'; export class A extends Node {}",
    '/flows/b.ts': "export * from './a.ts';",
  };
  const text =
    "import { Flow } from 'farwharf/agents'; import { A } from './b'; const flow = new Flow({ start: new A() });";
  const host = memoryHost(files);
  const project = new FlowProject(host);
  project.read(MAIN, text);
  assert.equal(project.parsedFiles, 3);
  for (let stroke = 1; stroke <= 5; stroke += 1) {
    project.read(MAIN, `${text}${' '.repeat(stroke)}`);
    assert.equal(project.parsedFiles, 3 + stroke);
  }
  assert.deepEqual(host.reads, ['/flows/b.ts', '/flows/a.ts']);
  files['/flows/a.ts'] += ' A.prototype.post = () => 1;';
  project.read(MAIN, text);
  assert.deepEqual(host.reads, ['/flows/b.ts', '/flows/a.ts', '/flows/a.ts']);
});

test('a flow is evaluated again only when its text or an imported file has changed', () => {
  const node = (action: string): string =>
    `import { Node } from 'farwharf/agents'; export class A extends Node { post() { return '${action}'; } }`;
  const files: Record<string, string> = { '/flows/a.ts': node('one'), '/flows/b.ts': "export * from './a.js';" };
  const text =
    "import { Flow } from 'farwharf/agents'; import { A } from './b'; const flow = new Flow({ start: new A() });";
  const project = new FlowProject(memoryHost(files));
  const actions = (): string[] => actionsOf(onlyFlow(project.read(MAIN, text)));
  assert.deepEqual([actions(), actions(), project.evaluations], [['new A: one'], ['new A: one'], 1]);
  files['/flows/a.ts'] = node('two');
  assert.deepEqual([actions(), actions(), project.evaluations], [['new A: two'], ['new A: two'], 2]);
  files['/flows/unrelated.ts'] = node('three');
  assert.deepEqual([actions(), project.evaluations], [['new A: two'], 2]);
  files['/flows/a.js'] = node('four'); // what the import names comes before a.ts
  assert.deepEqual([actions(), project.evaluations], [['new A: four'], 3]);
  delete files['/flows/a.js'];
  assert.deepEqual([actions(), project.evaluations], [['new A: two'], 4]);
  assert.equal(project.read(MAIN, `${text} const = `).isStale, true);
  assert.deepEqual([actions(), project.evaluations], [['new A: two'], 4]);
  project.forget(MAIN);
  assert.deepEqual([actions(), project.evaluations], [['new A: two'], 5]);
});

test('the readings of the files used last are kept', () => {
  const text = "import { Flow, Node } from 'farwharf/agents'; const flow = new Flow({ start: new Node() });";
  const project = new FlowProject(memoryHost({}));
  const readUntil = (count: number): void => {
    for (let file = 0; file < count; file += 1) project.read(`/flows/${file}.ts`, text);
  };
  readUntil(50);
  readUntil(50);
  assert.equal(project.evaluations, 50);
  project.read('/flows/50.ts', text);
  project.read('/flows/49.ts', text);
  assert.equal(project.evaluations, 51);
  project.read('/flows/0.ts', text);
  assert.equal(project.evaluations, 52);
});

test('while the text does not parse the last good graph stays, with the error and its place', () => {
  const good =
    "import { Flow, Node } from 'farwharf/agents'; const a = new Node(); const flow = new Flow({ start: a });\n";
  const project = new FlowProject(memoryHost({}));
  project.read(MAIN, good);
  const broken = project.read(MAIN, `${good}flow.connect(a, `);
  assert.equal(broken.isStale, true);
  assert.equal(onlyFlow(broken).start, 'a');
  assert.deepEqual([broken.syntaxError?.message, broken.syntaxError?.range.start.line], ['Unexpected token', 1]);
  const mended = project.read(MAIN, `${good}flow.connect(a, null);`);
  assert.deepEqual(
    [mended.isStale, mended.syntaxError, ...edgesOf(onlyFlow(mended))],
    [false, undefined, 'a -default-> .'],
  );
  const recovered = project.read(MAIN, `${good}flow.connect(a, null); const x = 1; const x = 2;`);
  assert.equal(recovered.isStale, false);
  assert.match(recovered.syntaxError?.message ?? '', /already been declared/);
  assert.deepEqual(edgesOf(onlyFlow(recovered)), ['a -default-> .']);
  const first = new FlowProject(memoryHost({})).read(MAIN, 'const = ');
  assert.deepEqual([first.isStale, first.flows], [false, []]);
});

test('reading a flow never runs it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-read-'));
  try {
    const proof = join(folder, 'proof');
    const write = `writeFileSync(${JSON.stringify(proof)}, 'it ran');`;
    const helper = `import { writeFileSync } from 'node:fs';\n${write}\nexport const action = (() => { ${write} return 'go'; })();\n`;
    await writeFile(join(folder, 'helper.mjs'), helper);
    const file = join(folder, 'flow.mjs');
    const text = `import { Flow, Node } from 'farwharf/agents';
import { writeFileSync } from 'node:fs';
import { action } from './helper.mjs';
class Work extends Node { constructor() { super(); ${write} } get x() { ${write} return 1; } post() { ${write} return action; } }
${write}
const work = new Work();
export const flow = new Flow({ start: work }).connect(work, null, action);
await flow.run({ x: eval(${JSON.stringify(write)}) });
`;
    await writeFile(file, text);
    const read = readFlows(file, text, {
      version: (path) => (existsSync(path) ? 1 : undefined),
      read: (path) => readFileSync(path, 'utf8'),
    });
    assert.deepEqual(edgesOf(onlyFlow(read)), ['work -go-> .']);
    assert.equal(existsSync(proof), false);
    // The same file does write when it is run: the proof proves something.
    await writeFile(join(folder, 'run.mjs'), helper);
    await import(join(folder, 'run.mjs'));
    assert.equal(existsSync(proof), true);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a generated flow of 5,000 lines is read as a whole', () => {
  const count = 1200;
  const lines = ["import { Flow, Node } from 'farwharf/agents';"];
  for (let i = 0; i < count; i += 1) {
    lines.push(
      `class N${i} extends Node {`,
      `  post(shared) { shared.k${i} = 1; return 'next'; }`,
      '}',
      `const n${i} = new N${i}();`,
    );
  }
  lines.push('const flow = new Flow({ start: n0 });');
  for (let i = 0; i < count; i += 1)
    lines.push(`flow.connect(n${i}, ${i + 1 < count ? `n${i + 1}` : 'null'}, 'next');`);
  const { flows, unread } = readText(lines.join('\n'));
  assert.ok(lines.length > 5000);
  assert.deepEqual([flows.length, flows[0]?.nodes.length, flows[0]?.edges.length, unread], [1, count, count, []]);
});

test('a path outside of any folder, other line ends, and text that is no code are read', () => {
  const text =
    "import { Flow, Node } from 'farwharf/agents';\r\nconst a = new Node();\r\nconst flow = new Flow({ start: a });\r\n";
  const read = readFlows('untitled.mts', text, memoryHost({}));
  assert.deepEqual([onlyFlow(read).range.start.line, onlyFlow(read).range.start.column], [2, 13]);
  assert.deepEqual(readFlows('/x.ts', '\0\u{1f600} not code', memoryHost({})).flows, []);
  assert.deepEqual(readFlows('/x.ts', '', memoryHost({})).flows, []);
});

test('code without an end is given up, and said so', () => {
  const text = `import { Flow, Node } from 'farwharf/agents';
const a = new Node(); const flow = new Flow({ start: a });
function forever(n) { for (let i = 0; i < 1e9; i++) { forever(n + 1); flow.connect(a, a, 'x' + i); } }
forever(0); for (;;) {}`;
  const { unread, flows } = readText(text);
  assert.equal(flows.length, 1);
  assert.match(unread.map(({ reason }) => reason).join('\n'), /too (?:complex to follow|large to read)/);
});

test('the examples are read without a gap', () => {
  const folder = join(temporaryExamples(), 'agents');
  const host = {
    version: (path: string) => (existsSync(path) ? 1 : undefined),
    read: (path: string) => readFileSync(path, 'utf8'),
  };
  const flows = globSync('*.mts', { cwd: folder })
    .sort()
    .flatMap((name) => {
      const read = readFlows(join(folder, name), readFileSync(join(folder, name), 'utf8'), host);
      assert.deepEqual([read.unread, read.syntaxError], [[], undefined], name);
      return read.flows.map((flow) => [name, flow.label, flow.start, ...edgesOf(flow)]);
    });
  assert.deepEqual(flows, [
    ['askRepository.mts', 'Flow', 'search', 'search -default-> answer', 'answer -default-> .'],
    ['chat.mts', 'Flow', 'next', 'next -asked-> answer', 'answer -default-> next', 'next -finished-> .'],
    ['research.mts', 'LookUp', 'search', 'search -default-> takeNotes', 'takeNotes -default-> .'],
    [
      'research.mts',
      'Research',
      'decide',
      'decide -search-> lookUp',
      'lookUp -default-> decide',
      'decide -enough-> write',
      'write -default-> .',
    ],
    ['summarize.mts', 'Flow', 'map', 'map -default-> reduce', 'reduce -default-> .'],
  ]);
});

test('no text makes the reader fail: halves of examples, holes in them, deep nesting, things that hold themselves', () => {
  const folder = join(temporaryExamples(), 'agents');
  const project = new FlowProject(diskHost);
  for (const name of ['research.mts', 'summarize.mts']) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    for (let at = 0; at < text.length; at += 23) {
      for (const part of [text.slice(0, at), text.slice(0, at) + text.slice(at + 7)]) {
        const read = project.read(file, part);
        diagnose(read);
        completionsAt(read, part, at);
        neighboursAt(project.readSource(file, part), Math.min(at, part.length));
      }
    }
  }
  const head =
    "import { Flow, Node } from 'farwharf/agents'; const a = new Node(); const flow = new Flow({ start: a });\n";
  const deep = readText(
    `${head}const x = ${'('.repeat(3000)}1${')'.repeat(3000)}; const y = ${'1 + '.repeat(20_000)}1;`,
  );
  assert.ok(deep.flows.length === 1 || deep.syntaxError !== undefined);
  assert.equal(
    onlyFlow(readText(`${head}const self = {}; self.self = self; self.flow = flow; const other = self;`)).start,
    'a',
  );
});
