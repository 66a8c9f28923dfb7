// What it costs to draw a flow while its source is being typed, next to dagre: time to read it and to
// lay it out, and how many lines cross. Read: parse the source and follow its flows, without anything cached.
import { readFlows } from '../src/flows/project/flowProject.ts';
import type { FlowGraph } from '../src/flows/graph/graph.ts';
import { type FlowLayout, layoutFlow } from '../src/flows/layout/flowLayout.ts';
import type { LayoutGraph } from '../src/flows/layout/shape.ts';
import { countLineCrossings, type DrawnLine } from './support/lineCrossings.ts';
import { dagreLayout, Graph } from './support/dagre.ts';
import { flowSource, syntheticFlow } from './support/syntheticFlow.ts';

const SIZES = [
  { count: 20, budgetMs: 30, runs: 100 },
  { count: 200, budgetMs: 30, runs: 60 },
  { count: 2_000, budgetMs: 300, runs: 15 },
];
const NO_OTHER_FILES = { version: () => undefined, read: () => undefined };

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The graph that both layouts get: what the canvas draws of the flow, ends and all. */
function graphOf({ graph, layout }: FlowLayout): LayoutGraph {
  return {
    nodes: [...layout.nodes.values()],
    edges: graph.edges
      .map(({ id, source, target }) => ({ id, from: source, to: target ?? `end ${id}`, labelWidth: 40 }))
      .filter(({ from, to }) => from !== to),
  };
}

function ownLines({ edges }: LayoutGraph, { layout }: FlowLayout): DrawnLine[] {
  return edges.map(({ id, from, to }) => ({ from, to, points: layout.edges.get(id)?.points ?? [] }));
}

function dagreLines({ nodes, edges }: LayoutGraph): DrawnLine[] {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: 28, ranksep: 72, edgesep: 10 });
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const { id, from, to } of edges) graph.setEdge(from, to, {}, id);
  dagreLayout(graph);
  return edges.map(({ id, from, to }) => ({
    from,
    to,
    points: graph.edge({ v: from, w: to, name: id }).points,
  }));
}

/** The best of some runs: on a machine that does other things too, the one that was disturbed least. */
function timed<T>(runs: number, work: () => T): { readonly milliseconds: number; readonly result: T } {
  let best = Infinity;
  let result: T;
  let run = 0;
  do {
    const started = performance.now();
    result = work();
    best = Math.min(best, performance.now() - started);
    run += 1;
  } while (run < runs);
  return { milliseconds: best, result };
}

function onlyFlow(text: string): FlowGraph {
  const [flow] = readFlows('/flow.mts', text, NO_OTHER_FILES).flows;
  if (flow === undefined) throw new Error('the source has no flow');
  return flow;
}

for (const { count, budgetMs, runs } of SIZES) {
  const text = flowSource(count, syntheticFlow(count));
  const parsed = timed(runs, () => onlyFlow(text));
  const own = timed(runs, () => layoutFlow(parsed.result, { flows: [parsed.result] }));
  const follow = timed(runs, () => layoutFlow(parsed.result, { flows: [parsed.result], previous: own.result }));
  const graph = graphOf(own.result);
  const peer = timed(count > 1_000 ? 1 : 5, () => dagreLines(graph));
  const [ownCrossings, peerCrossings] = [
    countLineCrossings(ownLines(graph, own.result)),
    countLineCrossings(peer.result),
  ];
  const sum = parsed.milliseconds + own.milliseconds;
  print(`${count} nodes, ${graph.edges.length} connections, ${text.split('\n').length} lines`);
  print(
    `  read ${parsed.milliseconds.toFixed(1)} ms + layout ${own.milliseconds.toFixed(1)} ms = ${sum.toFixed(1)} ms (to reach: ${budgetMs})`,
  );
  print(`  layout that follows an earlier one: ${follow.milliseconds.toFixed(1)} ms`);
  print(
    `  dagre: layout ${peer.milliseconds.toFixed(1)} ms, ${(peer.milliseconds / own.milliseconds).toFixed(0)} times as long`,
  );
  print(`  crossings: ${ownCrossings}, dagre ${peerCrossings}`);
}
