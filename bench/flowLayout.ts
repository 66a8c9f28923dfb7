// What it costs to draw a flow while its source is being typed, next to dagre: time of the layout, and how many lines cross.
import * as dagre from '@dagrejs/dagre';
import { layoutGraph } from '../src/flows/layout/layout.ts';
import type { LayoutGraph } from '../src/flows/layout/shape.ts';
import { countLineCrossings, type DrawnLine } from './support/lineCrossings.ts';
import { syntheticFlow } from './support/syntheticFlow.ts';

// What is used of dagre. Its own declarations name a package that it does not bring along.
interface DagreGraph {
  setGraph(options: { nodesep: number; ranksep: number; edgesep: number }): void;
  setNode(id: string, size: { width: number; height: number }): void;
  setEdge(from: string, to: string, value: object, name: string): void;
  edge(edge: { v: string; w: string; name: string }): { points: { x: number; y: number }[] };
}
interface Dagre {
  readonly Graph: new (options: { multigraph: boolean }) => DagreGraph;
  readonly layout: (graph: DagreGraph) => void;
}
const { Graph, layout: dagreLayout } = dagre as unknown as Dagre;

const NODE = { width: 216, height: 60 };
const REPEATS = 5;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function graphOf(count: number, seed: number): LayoutGraph {
  const edges = syntheticFlow(count, seed).flatMap(({ source, target, action }, index) =>
    target === null || target === source
      ? []
      : [{ id: `${index}`, from: `${source}`, to: `${target}`, labelWidth: action.length * 7 }],
  );
  return { nodes: Array.from({ length: count }, (_, id) => ({ id: `${id}`, ...NODE })), edges };
}

function ownLines(graph: LayoutGraph): DrawnLine[] {
  const { edges } = layoutGraph(graph);
  return graph.edges.map(({ id, from, to }) => ({ from, to, points: edges.get(id)?.points ?? [] }));
}

function dagreLines({ nodes, edges }: LayoutGraph): DrawnLine[] {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: 28, ranksep: 64, edgesep: 10 });
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const { id, from, to } of edges) graph.setEdge(from, to, {}, id);
  dagreLayout(graph);
  return edges.map(({ id, from, to }) => ({
    from,
    to,
    points: graph.edge({ v: from, w: to, name: id }).points,
  }));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function timed<T>(repeats: number, work: () => T): { readonly milliseconds: number; readonly result: T } {
  let result = work();
  const times = Array.from({ length: repeats }, () => {
    const started = performance.now();
    result = work();
    return performance.now() - started;
  });
  return { milliseconds: median(times), result };
}

for (const count of [20, 200, 2_000]) {
  for (const seed of count > 1_000 ? [1] : [1, 2, 3]) {
    const graph = graphOf(count, seed);
    const own = timed(REPEATS, () => ownLines(graph));
    const peer = timed(count > 1_000 ? 1 : REPEATS, () => dagreLines(graph));
    const [ownCrossings, peerCrossings] = [countLineCrossings(own.result), countLineCrossings(peer.result)];
    print(
      `${count} nodes, ${graph.edges.length} edges: ${own.milliseconds.toFixed(1)} ms, ${ownCrossings} crossings` +
        ` | dagre ${peer.milliseconds.toFixed(1)} ms, ${peerCrossings} crossings`,
    );
  }
}
