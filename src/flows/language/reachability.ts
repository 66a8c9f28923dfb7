import type { FlowNode } from '../graph/graph.ts';
import { type Examined, type FlowDiagnostic, MAX_FAULTS, MAX_RELATED, placeOfFlow, placeOfNode } from './diagnostic.ts';

const MAX_STARTS = 5;
const SHOWN_NODES = 6;
// The most nodes visited to find the cycles of a flow: thousands of nodes that lead into one cycle would take seconds.
const MAX_LOOKS = 2_000_000;

/** Flows that no run can start. */
export function missingStart({ file, graph }: Examined): FlowDiagnostic[] {
  if (graph.start !== undefined || graph.isBranches === true) return [];
  const targets = new Set(graph.edges.map(({ target }) => target));
  const first = graph.nodes.filter(({ id }) => !targets.has(id));
  const candidates = [...first, ...graph.nodes.filter(({ id }) => targets.has(id))].slice(0, MAX_STARTS);
  const isSure = graph.unread.length === 0 && (graph.nodes.length > 0 || graph.runs.length > 0);
  return [
    {
      code: 'no-start',
      severity: isSure ? 'error' : 'hint',
      message: `The start of ${graph.label} cannot be found${isSure ? ': a run would fail at once' : ''}. Set it with new Flow({ start: node }) or flow.start = node.`,
      range: placeOfFlow(file, graph),
      related: graph.unread.slice(0, MAX_RELATED).map(({ reason, range }) => ({ message: reason, range })),
      fixes: candidates.map(({ id, label }) => ({
        title: `Start at ${label}`,
        operation: { type: 'setStart', flow: graph.id, node: id },
      })),
      flow: graph.id,
    },
  ];
}

/** Nodes from which no path leads to an end: only maxVisits or an error would stop a run there. */
export function endlessCycles(examined: Examined): FlowDiagnostic[] {
  const { graph, reached } = examined;
  const ending = endingNodes(examined);
  const caught = new Set([...reached].filter((id) => !ending.has(id)));
  const next = Map.groupBy(graph.edges, ({ source }) => source);
  const before = Map.groupBy(graph.edges, ({ target }) => target);
  const diagnostics: FlowDiagnostic[] = [];
  let looked = 0;
  for (const node of graph.nodes) {
    if (!caught.has(node.id)) continue;
    if (looked > MAX_LOOKS || diagnostics.length >= MAX_FAULTS) break;
    const behind = spread(node.id, (id) => next.get(id)?.map(({ target }) => target) ?? []);
    const ahead = spread(node.id, (id) => before.get(id)?.map(({ source }) => source) ?? []);
    looked += behind.size + ahead.size + graph.nodes.length;
    const cycle = graph.nodes.filter(({ id }) => behind.has(id) && ahead.has(id));
    caught.delete(node.id);
    for (const { id } of cycle) caught.delete(id);
    if (!cycle.includes(node)) continue; // it leads into a cycle that is reported separately
    const names = cycle.slice(0, SHOWN_NODES).map(({ label }) => label);
    const more = cycle.length > SHOWN_NODES ? ' → …' : '';
    diagnostics.push({
      code: 'endless-cycle',
      severity: 'warning',
      message: `The loop ${names.join(' → ')}${more} → ${names[0]} has no exit: a run would repeat it until maxVisits, an error or an abort ends it. Return an action that leaves the loop.`,
      range: placeOfNode(examined, node),
      related: cycle
        .slice(1, MAX_RELATED)
        .map((other) => ({ message: other.label, range: placeOfNode(examined, other) })),
      fixes: [],
      flow: graph.id,
      node: node.id,
    });
  }
  return diagnostics;
}

/** The nodes from which an end can be reached; an unknown action counts as an end. */
function endingNodes({ graph }: Examined): Set<string> {
  const sources = Map.groupBy(graph.edges, ({ target }) => target);
  const returned = new Map(
    graph.nodes.map((node) => [node.id, new Set(node.actions.known.map(({ action }) => action))]),
  );
  const exits = new Set(
    graph.edges.filter(({ target }) => target !== null).map(({ source, action }) => `${source}:${action}`),
  );
  const canEnd = ({ id, actions }: FlowNode): boolean =>
    actions.unknown !== undefined || actions.known.some(({ action }) => !exits.has(`${id}:${action}`));
  const ending = new Set(graph.nodes.filter(canEnd).map(({ id }) => id));
  for (const id of ending) {
    for (const { source, action } of sources.get(id) ?? []) {
      if (returned.get(source)?.has(action) === true) ending.add(source);
    }
  }
  return ending;
}

/** The nodes reached from a node; includes the node itself if a path leads back to it. */
function spread(from: string, step: (id: string) => readonly (string | null)[]): Set<string> {
  const ends = new Set<string>();
  const left = [from];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    for (const other of step(id)) {
      if (other === null || ends.has(other)) continue;
      ends.add(other);
      left.push(other);
    }
  }
  return ends;
}
