import type { FlowOperation } from '../graph/flowOperation.ts';
import type { FlowEdge, TextEdit } from '../graph/graph.ts';
import { sourceName } from '../reading/unitNames.ts';
import { nameIn } from '../interpreter/scopes.ts';
import { startOf } from '../syntax/sourceFile.ts';
import {
  argumentOf,
  callOf,
  connectPlace,
  connectText,
  type EditContext,
  instanceOf,
  referenceTo,
  removeConnection,
} from './connectionEdits.ts';
import { type GraphShape, shapeOf } from './graphShape.ts';
import { freeVariable, libraryClass, sharedType } from './scaffold.ts';
import { refuse } from './sourceMap.ts';
import { writeStart } from './startEdits.ts';

type Wanted = Pick<Extract<FlowOperation, { type: 'extractFlow' }>, 'nodes' | 'name'>;

interface Cut {
  readonly entry: string;
  /** Edges that lead in, out (or to the end), and between the nodes. */
  readonly entering: readonly FlowEdge[];
  readonly leaving: readonly FlowEdge[];
  readonly inner: readonly FlowEdge[];
}

/**
 * Moves nodes into a new flow that replaces them. It starts at one node, and each action that leads out has one target. Also
 * returns the id of the new flow and its graph.
 */
export function extractFlow(
  context: EditContext,
  { nodes, name }: Wanted,
): { edits: TextEdit[]; id: string; outer: GraphShape; inner: GraphShape } {
  const { map, flow } = context;
  const variable = freeVariable(map, /^\p{Ll}/u.test(name) ? name[0]?.toUpperCase() + name.slice(1) : name);
  const nodeNames = new Set(nodes);
  const cut = cutOut(context, nodeNames);
  const place = connectPlace(context);
  const touched = [...cut.entering, ...cut.leaving, ...cut.inner].map((edge) =>
    map.statementOf(callOf(context, edge).call),
  );
  const first = flow.graph.start === cut.entry ? [map.statementOf(flow.instance.creation)] : [];
  const anchor = [...first, ...touched].reduce((a, one) => (startOf(one) < startOf(a) ? one : a), place.statement);
  for (const id of nodeNames) {
    const { creation, file } = instanceOf(context, id);
    if (file === map.source && startOf(creation) > startOf(anchor)) {
      refuse(`"${id}" is made below the place where the new flow would stand. Move it up first.`);
    }
  }
  const reference = (id: string): string => referenceTo(instanceOf(context, id), place.scope);
  const library = libraryClass(map, 'Flow');
  const shared = sharedType(map, [flow.instance, ...nodes.map((id) => instanceOf(context, id))]);
  const type = shared === undefined || !map.isTyped ? '' : `<${shared}>`;
  const connections = [
    ...cut.inner.map(({ source, target, action }) =>
      connectText(map, reference(source), target === null ? 'null' : reference(target), action),
    ),
    ...cut.leaving.map(({ source, action }) => connectText(map, reference(source), 'null', action)),
  ];
  const head = `const ${variable} = new ${library.name}${type}({ start: ${reference(cut.entry)}, name: ${map.quoted(name)} })`;
  const lines = [head, ...connections.map((text) => `${map.step}.${text}`)];
  lines[lines.length - 1] += map.semicolon;
  const edits: TextEdit[] = [...library.edits, map.insertAbove(anchor, lines)];
  for (const edge of cut.inner) edits.push(removeConnection(context, edge));
  for (const edge of cut.entering) edits.push(replaceArgument(context, edge, 1, variable));
  const remaining = new Set<string>();
  for (const edge of cut.leaving) {
    edits.push(
      remaining.has(edge.action) ? removeConnection(context, edge) : replaceArgument(context, edge, 0, variable),
    );
    remaining.add(edge.action);
  }
  if (flow.graph.start === cut.entry) edits.push(writeStart(context, variable, startOf(anchor)));
  const id = nameIn(place.scope, variable);
  return { edits, id, ...shapes(context, cut, id) };
}

function cutOut({ flow: { graph } }: EditContext, nodeNames: ReadonlySet<string>): Cut {
  if (nodeNames.size === 0) refuse('Select the nodes to extract into a flow.');
  const { edges, start } = graph;
  const isInside = (id: string | null): boolean => id !== null && nodeNames.has(id);
  const entering = edges.filter(({ source, target }) => !isInside(source) && isInside(target));
  const entries = new Set(entering.map(({ target }) => target));
  if (start !== undefined && nodeNames.has(start)) entries.add(start);
  const [entry, other] = entries;
  if (entry === undefined || entry === null)
    return refuse('No connection leads to these nodes, so the new flow would never run.');
  if (other !== undefined) refuse(`A flow has one start, but connections lead to both "${entry}" and "${other}".`);
  const leaving = edges.filter(({ source, target }) => isInside(source) && !isInside(target));
  const targets = new Map<string, string | null>();
  for (const { action, target } of leaving) {
    const before = targets.get(action);
    if (before !== undefined && before !== target) {
      refuse(
        `The action "${action}" leads from these nodes to two different nodes, but a flow has one connection for each action. Rename one.`,
      );
    }
    targets.set(action, target);
  }
  for (const { id, actions } of graph.nodes.filter((node) => nodeNames.has(node.id))) {
    const loose = actions.known.find(
      ({ action }) => targets.has(action) && !edges.some((edge) => edge.source === id && edge.action === action),
    );
    if (loose !== undefined)
      refuse(`"${id}" ends the flow with the action "${loose.action}", which other nodes connect. Connect it first.`);
  }
  return {
    entry,
    entering,
    leaving,
    inner: edges.filter(({ source, target }) => isInside(source) && isInside(target)),
  };
}

function replaceArgument(context: EditContext, edge: FlowEdge, index: number, text: string): TextEdit {
  const node = argumentOf(callOf(context, edge), index);
  return node === undefined
    ? refuse('The connection is not written in the source.')
    : context.map.replaceNode(node, text);
}

function shapes(
  { flow: { graph, nodes } }: EditContext,
  cut: Cut,
  id: string,
): { outer: GraphShape; inner: GraphShape } {
  const touched = new Set([...cut.entering, ...cut.leaving, ...cut.inner]);
  const nameOf = (node: string): string => {
    const instance = nodes.get(node);
    return instance === undefined ? node : sourceName(instance, undefined);
  };
  const outer = [
    ...graph.edges.filter((edge) => !touched.has(edge)),
    ...cut.entering.map((edge) => ({ ...edge, target: id })),
    ...cut.leaving.map((edge) => ({ ...edge, source: id })),
  ];
  const inner = [...cut.inner, ...cut.leaving.map((edge) => ({ ...edge, target: null }))];
  const renamed = inner.map(({ source, action, target }) => {
    return { source: nameOf(source), action, target: target === null ? null : nameOf(target) };
  });
  return {
    outer: shapeOf({ start: graph.start === cut.entry ? id : graph.start, edges: outer }),
    inner: shapeOf({ start: nameOf(cut.entry), edges: renamed }),
  };
}
