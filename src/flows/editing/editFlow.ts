import type { FlowOperation } from '../graph/flowOperation.ts';
import type { TextEdit } from '../graph/graph.ts';
import { DEFAULT_ACTION } from '../../agents/graph/unit.ts';
import type { FlowReading } from '../reading/readSource.ts';
import type { ReadFlow } from '../reading/graphBuilder.ts';
import { edited } from '../syntax/edits.ts';
import { startOf } from '../syntax/sourceFile.ts';
import {
  addConnections,
  argumentOf,
  callOf,
  connectPlace,
  type EditContext,
  edgeOf,
  instanceOf,
  referenceTo,
  removeConnection,
} from './connectionEdits.ts';
import { extractFlow } from './extractFlow.ts';
import { type GraphShape, shapeOf } from './graphShape.ts';
import { addNode, deleteNode } from './nodeEdits.ts';
import { renameAction, type RenamedExit } from './renameEdits.ts';
import { refuse, SourceMap } from './sourceMap.ts';
import { writeStart } from './startEdits.ts';

/** Edits, and the expected flows of the file afterwards. */
export interface PlannedEdit {
  readonly edits: readonly TextEdit[];
  readonly shapes: ReadonlyMap<string, GraphShape>;
}

interface Plan {
  readonly edits: readonly TextEdit[];
  /** The flows that change. */
  readonly changed: readonly (readonly [flow: string, shape: GraphShape])[];
}

/**
 * The edits of the source that make an operation.
 *
 * @throws AppError `refused` with the reason if that cannot be done safely.
 */
export function planEdit(
  { source, flows }: Pick<FlowReading, 'source' | 'flows'>,
  operation: FlowOperation,
  textOf: (file: string) => string,
): PlannedEdit {
  const flow = flows.find(({ graph }) => graph.id === operation.flow);
  if (flow === undefined) refuse(`The file no longer has a flow "${operation.flow}".`);
  if (flow.graph.isBranches === true && operation.type !== 'renameAction') {
    refuse(`${flow.graph.label} is a ParallelFlow. Edit its branches in the source.`);
  }
  const context: EditContext = { map: new SourceMap(source), flow, flows };
  const { edits, changed } = planOperation(context, operation, textOf);
  const shapes = new Map(flows.map(({ graph }) => [graph.id, shapeOf(graph)]));
  for (const [id, shape] of changed) shapes.set(id, shape);
  return { edits: sorted(edits), shapes };
}

function planOperation(context: EditContext, operation: FlowOperation, textOf: (file: string) => string): Plan {
  const { flow, flows } = context;
  const { graph } = flow;
  const { start, edges } = shapeOf(graph);
  const changed = (shape: Partial<GraphShape>): Plan['changed'] => [[graph.id, { start, edges, ...shape }]];
  switch (operation.type) {
    case 'connect': {
      const { source, target } = operation;
      const action = operation.action || DEFAULT_ACTION;
      const edit = connectNodes(context, source, target, action);
      return { edits: edit, changed: changed({ edges: new Map([...edges, [`${source}:${action}`, target]]) }) };
    }
    case 'deleteEdge': {
      const edge = edgeOf(context, operation.edge);
      const left = new Map(edges);
      left.delete(`${edge.source}:${edge.action}`);
      return { edits: [removeConnection(context, edge)], changed: changed({ edges: left }) };
    }
    case 'deleteNode': {
      const { node } = operation;
      const left = graph.edges.filter(({ source, target }) => source !== node && target !== node);
      const shape = shapeOf({ ...graph, edges: left, start: start === node ? undefined : start });
      return { edits: deleteNode(context, node), changed: changed(shape) };
    }
    case 'setStart': {
      const instance = instanceOf(context, operation.node);
      const text = referenceTo(instance, flow.instance.flow.startScope ?? flow.instance.scope);
      const edit = writeStart(context, text, instance.file === context.map.source ? startOf(instance.creation) : 0);
      return { edits: [edit], changed: changed({ start: operation.node }) };
    }
    case 'addNode': {
      const { edits, id } = addNode(context, operation);
      const { from } = operation;
      if (from === undefined) return { edits, changed: changed({ start: id }) };
      const exit = `${from.node}:${from.action || DEFAULT_ACTION}`;
      const all = new Map([...edges, [exit, id] as const]);
      const before = edges.get(exit);
      if (before !== undefined) all.set(`${id}:${DEFAULT_ACTION}`, before);
      return { edits, changed: changed({ edges: all }) };
    }
    case 'renameAction': {
      const renamed = renameAction(flows, flow, operation, textOf);
      const name = operation.newAction || DEFAULT_ACTION;
      return { edits: renamed.edits, changed: renameExits(flows, renamed.exits, operation.action, name) };
    }
    case 'extractFlow': {
      const { edits, id, outer, inner } = extractFlow(context, operation);
      return { edits, changed: [...changed(outer), [id, inner]] };
    }
    default:
      return operation satisfies never;
  }
}

function connectNodes(context: EditContext, source: string, target: string | null, action: string): TextEdit[] {
  const { map, flow } = context;
  const from = instanceOf(context, source);
  const to = target === null ? undefined : instanceOf(context, target);
  const same = flow.graph.edges.filter((edge) => edge.source === source && edge.action === action);
  const [existing] = same;
  if (existing === undefined) {
    const { scope } = connectPlace(context);
    const text = to === undefined ? 'null' : referenceTo(to, scope);
    return [addConnections(context, [{ source: referenceTo(from, scope), target: text, action }])];
  }
  if (same.length > 1) refuse(`"${source}" has several connections for "${action}". Edit them in the source.`);
  const connection = callOf(context, existing);
  const argument = argumentOf(connection, 1) ?? refuse('The connection has no target in the source.');
  const isLate = to?.file === map.source && startOf(to.creation) > startOf(connection.call);
  if (!isLate) return [map.replaceNode(argument, to === undefined ? 'null' : referenceTo(to, connection.scope))];
  // The node is created below the call that would name it, so the connection moves to where both are defined.
  const { scope } = connectPlace(context);
  const moved = { source: referenceTo(from, scope), target: referenceTo(to, scope), action };
  return [removeConnection(context, existing), addConnections(context, [moved])];
}

function renameExits(
  flows: readonly ReadFlow[],
  exits: readonly RenamedExit[],
  action: string,
  name: string,
): Plan['changed'] {
  return flows.map(({ graph }) => {
    const { start, edges } = shapeOf(graph);
    const renamed = new Set(exits.filter(({ flow }) => flow === graph.id).map(({ node }) => `${node}:${action}`));
    const entries = [...edges].map(([exit, target]): [string, string | null] =>
      renamed.has(exit) ? [`${exit.slice(0, -action.length)}${name}`, target] : [exit, target],
    );
    return [graph.id, { start, edges: new Map(entries) }];
  });
}

/** In the order of the text, without overlaps. */
function sorted(edits: readonly TextEdit[]): TextEdit[] {
  const ordered = edits.toSorted(
    (a, b) => a.range.file.localeCompare(b.range.file) || a.range.start.offset - b.range.start.offset,
  );
  for (const [index, { range }] of ordered.entries()) {
    const next = ordered[index + 1]?.range;
    if (next?.file === range.file && next.start.offset < range.end.offset) {
      refuse('The change would edit the same place twice. Make it in the source.');
    }
  }
  return ordered;
}

/** Applies edits that do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edited(
    text,
    edits.map(({ range, text: inserted }) => ({ start: range.start.offset, end: range.end.offset, text: inserted })),
  );
}
