import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryExamples } from '../../scripts/trackedFiles.ts';
import { jsonLines, Scratch } from './commandLine.ts';

const EXAMPLE = join(temporaryExamples(), 'agents', 'research.mts');
const FAULTY = `import { writeFileSync } from 'node:fs';
import { Flow, Node } from 'farwharf/agents';
writeFileSync(new URL('proof', import.meta.url), 'it ran');
class A extends Node { post(_s, _p, e) { return e ? 'more' : 'done'; } }
const a = new A();
export const flow = new Flow({ name: 'Faulty' }).connect(a, a, 'more');
`;

test('the graph of a flow is printed as Mermaid, SVG and JSON', async () => {
  await using scratch = await Scratch.create();
  const mermaid = await scratch.run(['flow', 'graph', EXAMPLE]);
  assert.equal(mermaid.exit, 0, mermaid.stderr);
  assert.match(mermaid.stdout, /^flowchart TD\n[\s\S]*Decide[\s\S]*subgraph[\s\S]*"enough"/);
  const svg = await scratch.run(['flow', 'graph', EXAMPLE, '--format', 'svg', '--flow', 'lookUp']);
  assert.match(svg.stdout, /^<svg [\s\S]*<title>LookUp<\/title>[\s\S]*<\/svg>\n$/);
  const json = await scratch.run(['flow', 'graph', EXAMPLE, '--json']);
  const [{ flows } = { flows: [] }] = jsonLines(json.stdout) as { flows: { id: string; start: string }[] }[];
  assert.deepEqual(
    flows.map(({ id, start }) => [id, start]),
    [
      ['lookUp', 'search'],
      ['research', 'decide'],
    ],
  );
  const wrapped = await scratch.run(['flow', 'graph', EXAMPLE, '--format', 'mermaid', '--json']);
  assert.match(String(jsonLines(wrapped.stdout)[0]?.['mermaid']), /^flowchart TD/);
});

test('problems are printed as compilers print them, and nothing is run', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('flows', { 'faulty.mjs': FAULTY, 'broken.ts': 'const = ;', 'sound.ts': '' });
  const faulty = await scratch.run(['flow', 'check', 'faulty.mjs'], { cwd: folder });
  assert.equal(faulty.exit, 1);
  assert.match(faulty.stdout, /^faulty\.mjs:6:21: error no-start: The start of Faulty cannot be found/m);
  assert.match(faulty.stderr, /1 flow: 1 error, 0 warnings/);
  const json = await scratch.run(['flow', 'check', 'faulty.mjs', '--json'], { cwd: folder });
  const [{ diagnostics } = { diagnostics: [] }] = jsonLines(json.stdout) as {
    diagnostics: Record<string, unknown>[];
  }[];
  assert.deepEqual(
    diagnostics.map(({ code, severity }) => [code, severity]),
    [['no-start', 'error']],
  );
  assert.equal(json.exit, 1);
  assert.equal(existsSync(join(folder, 'proof')), false);
  const broken = await scratch.run(['flow', 'check', 'broken.ts'], { cwd: folder });
  assert.deepEqual([broken.exit, /broken\.ts:1:7: error syntax: /.test(broken.stdout)], [1, true], broken.stdout);
  const sound = await scratch.run(['flow', 'check', 'sound.ts'], { cwd: folder });
  assert.deepEqual([sound.exit, sound.stdout], [0, '']);
  const several = await scratch.run(['flow', 'check', 'faulty.mjs', 'sound.ts', '--json'], { cwd: folder });
  assert.equal(several.exit, 1, several.stderr);
  assert.deepEqual(
    jsonLines(several.stdout).map(({ file }) => file),
    [join(folder, 'faulty.mjs'), join(folder, 'sound.ts')],
  );
  assert.match(
    several.stderr,
    /^faulty\.mjs: 1 flow: 1 error, 0 warnings\nsound\.ts: 0 flows: 0 errors, 0 warnings\. Nothing in it/m,
  );
});

test('files and flows that are not there, and unknown formats, are bad use', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('flows', { 'none.ts': 'export {};' });
  assert.equal((await scratch.run(['flow', 'check', 'gone.ts'], { cwd: folder })).exit, 2);
  const none = await scratch.run(['flow', 'graph', 'none.ts'], { cwd: folder });
  assert.equal(none.exit, 2);
  assert.match(none.stderr, /contains no flow\. Nothing in it creates a Flow of farwharf\/agents\.$/m);
  assert.match(
    (await scratch.run(['flow', 'graph', EXAMPLE, '--flow', 'no'])).stderr,
    /has no flow no\. Its flows: lookUp, research/,
  );
  assert.equal((await scratch.run(['flow', 'graph', EXAMPLE, '--format', 'png'])).exit, 2);
});

test('with --run the file is loaded for what its source hides, and its flow is not run', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('flows', {
    'dynamic.mts': `import { Flow, Node } from 'farwharf/agents';
class Step extends Node<object> { override post(): void { console.log('a step ran'); } }
const steps = Array.from({ length: Number(process.env['STEPS'] ?? 2) }, (_, index) => new Step({ name: \`step \${index}\` }));
const flow = new Flow<object>({ name: 'Dynamic' });
flow.start = steps[0];
for (const [index, step] of steps.entries()) flow.connect(step, steps[index + 1] ?? null);
await flow.run({});
console.log('behind the run');
`,
    'broken.mts': "throw new Error('no way');\n",
  });
  const read = await scratch.run(['flow', 'graph', 'dynamic.mts', '--json'], { cwd: folder });
  const [before] = jsonLines(read.stdout) as { unread: unknown[] }[];
  assert.notEqual(before?.unread.length, 0);
  const run = await scratch.run(['flow', 'graph', 'dynamic.mts', '--run', '--env', 'STEPS', '--json'], {
    cwd: folder,
    env: { STEPS: '4' },
  });
  assert.equal(run.exit, 0, run.stderr);
  const [{ flows, unread } = { flows: [], unread: [0] }] = jsonLines(run.stdout) as {
    flows: { start: string; edges: { source: string; target: string | null }[] }[];
    unread: unknown[];
  }[];
  assert.deepEqual(
    flows.map(({ start, edges }) => [start, ...edges.map(({ target }) => target)]),
    [['step 0', 'step 1', 'step 2', 'step 3', null]],
  );
  assert.deepEqual(unread, []);
  assert.doesNotMatch(run.stdout + run.stderr, /a step ran|behind the run/);
  const broken = await scratch.run(['flow', 'graph', 'broken.mts', '--run'], { cwd: folder });
  assert.deepEqual([broken.exit, /cannot be read by running it: no way/.test(broken.stderr)], [2, true], broken.stderr);
});
