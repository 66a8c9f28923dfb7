import { peerPackage } from './peerPackage.ts';

/** What is used of dagre. */
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

export const { Graph, layout: dagreLayout } = (await peerPackage('@dagrejs/dagre')) as Dagre;
