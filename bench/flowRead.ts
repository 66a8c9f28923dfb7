// What a keystroke in a flow file costs: reading the source and laying out the graph, next to dagre's layout of the same graph
// alone; and what the editor asks for together: canvas, problems, completions, hover and rename. In processor time, as the
// editor's other work and other programs would blur a clock.
import { FlowReader } from '../src/flows/project/flowReader.ts';
import type { FlowFile, FlowGraph } from '../src/flows/graph/graph.ts';
import { type FlowLayout, layoutFlow } from '../src/flows/layout/flowLayout.ts';
import { dagreLayout, Graph } from './support/dagre.ts';
import { syntheticFlow } from './support/syntheticFlow.ts';

// The first keystrokes find cold code; what people feel while typing is the second half of these.
const keystrokesFor = (count: number): number => (count > 1_000 ? 14 : 60);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** A flow file as people write them: a class of eight lines, an instance and two to three connections for each node. */
function sourceOf(count: number): string {
  const edges = syntheticFlow(count);
  const lines = [
    "import { Flow, Node } from 'farwharf/agents';",
    '',
    'interface Shared {',
    '  [key: string]: string;',
    '}',
    '',
  ];
  for (let index = 0; index < count; index += 1) {
    const actions = [...new Set(edges.filter(({ source }) => source === index).map(({ action }) => action))];
    const [last = 'default', ...others] = actions;
    lines.push(`/** Does step ${index} of the work. */`, `class Step${index} extends Node<Shared, string, string> {`);
    lines.push(
      '  override prep(shared: Shared): string {',
      `    return shared['key${Math.max(0, index - 1)}'] ?? '';`,
      '  }',
    );
    lines.push(
      '  override post(shared: Shared, _input: string, result: string) {',
      `    shared['key${index}'] = result;`,
    );
    for (const action of others) lines.push(`    if (result === '${action}') return '${action}';`);
    lines.push(
      `    return '${last}';`,
      '  }',
      '}',
      `const step${index} = new Step${index}({ maxRetries: 3, wait: 1 });`,
      '',
    );
  }
  lines.push('const flow = new Flow<Shared>({ start: step0 })');
  for (const { source, target, action } of edges) {
    lines.push(`  .connect(step${source}, ${target === null ? 'null' : `step${target}`}, '${action}')`);
  }
  lines.push('  .connect(step0, null);', 'export { flow };', '');
  return lines.join('\n');
}

function cpuMs<T>(work: () => T): { readonly ms: number; readonly result: T } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, result };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function dagreMs({ nodes, edges }: FlowGraph): number {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: 28, ranksep: 64, edgesep: 10 });
  for (const { id } of nodes) graph.setNode(id, { width: 216, height: 60 });
  for (const { id, source, target } of edges) if (target !== null) graph.setEdge(source, target, {}, id);
  return cpuMs(() => dagreLayout(graph)).ms;
}

for (const count of [20, 200, 2_000]) {
  const text = sourceOf(count);
  const reader = new FlowReader();
  const keystrokes = keystrokesFor(count);
  const [reads, layouts, checks, others]: [number[], number[], number[], number[]] = [[], [], [], []];
  let file: FlowFile | undefined;
  let previous: FlowLayout | undefined;
  for (let stroke = 0; stroke < keystrokes; stroke += 1) {
    reader.setText('/flow.ts', `${text}//${'x'.repeat(stroke)}`, stroke);
    const read = cpuMs(() => reader.read('/flow.ts'));
    file = read.result;
    const [graph] = file.flows;
    if (graph === undefined || graph.nodes.length !== count)
      throw new Error(`The flow has ${graph?.nodes.length} nodes.`);
    const laid = cpuMs(() => layoutFlow(graph, { flows: [graph], previous }));
    previous = laid.result;
    reads.push(read.ms);
    layouts.push(laid.ms);
    checks.push(cpuMs(() => reader.diagnose('/flow.ts')).ms);
    const offset = text.lastIndexOf('step0');
    const rest = cpuMs(() => [
      reader.complete('/flow.ts', offset),
      reader.neighbours('/flow.ts', offset),
      reader.symbol('/flow.ts', offset),
    ]);
    others.push(rest.ms);
  }
  const [graph] = file?.flows ?? [];
  // dagre needs minutes for 2,000 nodes: see the measurement of layouts.
  const peers = graph === undefined || count > 1_000 ? [] : Array.from({ length: 5 }, () => dagreMs(graph));
  const [read = 0, laid = 0, check = 0, other = 0] = [reads, layouts, checks, others].map((times) =>
    median(times.slice(keystrokes / 2)),
  );
  print(
    `${count} nodes, ${text.split('\n').length} lines: read ${read.toFixed(1)} ms + layout ${laid.toFixed(1)} ms = ` +
      `${(read + laid).toFixed(1)} ms (first ${reads[0]?.toFixed(1)} ms + ${layouts[0]?.toFixed(1)} ms)` +
      `${peers.length === 0 ? '' : ` | dagre's layout alone ${median(peers).toFixed(1)} ms`} | all that the editor asks ${(read + check + other).toFixed(1)} ms`,
  );
}
