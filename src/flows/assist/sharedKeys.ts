import type { FlowGraph } from '../graph/graph.ts';

/** A key of the shared state, and the labels of the nodes that use it. */
export interface SharedKey {
  readonly key: string;
  readonly writers: readonly string[];
  readonly readers: readonly string[];
}

/** All keys that flows use or start with, in alphabetical order. */
export function keysOf(flows: readonly FlowGraph[]): SharedKey[] {
  const found = new Map<string, { writers: Set<string>; readers: Set<string> }>();
  const usesOf = (key: string): { writers: Set<string>; readers: Set<string> } => {
    const uses = found.get(key) ?? { writers: new Set(), readers: new Set() };
    found.set(key, uses);
    return uses;
  };
  for (const { nodes, runs } of flows) {
    for (const { label, reads, writes } of nodes) {
      for (const { key } of writes) usesOf(key).writers.add(label);
      for (const { key } of reads) usesOf(key).readers.add(label);
    }
    for (const key of runs.flatMap(({ keys }) => keys ?? [])) usesOf(key).writers.add('run()');
  }
  return [...found]
    .map(([key, { writers, readers }]) => ({ key, writers: [...writers], readers: [...readers] }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
