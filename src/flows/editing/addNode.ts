import type * as t from '@babel/types';
import type { FlowOperation } from '../graph/flowOperation.ts';
import type { TextEdit } from '../graph/graph.ts';
import { DEFAULT_ACTION } from '../../agents/graph/unit.ts';
import { nameIn } from '../interpreter/scopes.ts';
import { startOf } from '../syntax/sourceFile.ts';
import {
  addConnections,
  argumentOf,
  callOf,
  connectPlace,
  type EditContext,
  instanceOf,
  referenceTo,
} from './connectionEdits.ts';
import { classLines, freeVariable, libraryClass, sharedType } from './scaffold.ts';
import { refuse, type SourceMap } from './sourceMap.ts';
import { writeStart } from './startEdits.ts';

type Wanted = Pick<Extract<FlowOperation, { type: 'addNode' }>, 'className' | 'from'>;

/**
 * Writes a class, an instance of it and the connection to it. If the action is already connected, the new node is inserted in
 * between. Also returns the id of the new node.
 */
export function addNode(context: EditContext, { className, from: given }: Wanted): { edits: TextEdit[]; id: string } {
  const { map, flow } = context;
  const from = given === undefined ? undefined : { ...given, action: given.action || DEFAULT_ACTION };
  const variable = freeVariable(map, className);
  const place = connectPlace(context);
  if (from === undefined && flow.graph.start !== undefined) {
    refuse('Choose the node and the action that lead to the new node.');
  }
  const node = from === undefined ? undefined : instanceOf(context, from.node);
  const edge = flow.graph.edges.find(({ source, action }) => source === from?.node && action === from.action);
  const existing = edge === undefined ? undefined : callOf(context, edge);
  const anchor =
    from === undefined
      ? map.statementOf(flow.instance.creation)
      : map.statementOf(existing?.call ?? place.chained ?? place.statement);
  const base = libraryClass(map, 'Node');
  const shared = sharedType(map, [flow.instance, ...(node === undefined ? [] : [node]), ...flow.nodes.values()]);
  const lines = classLines(map, className, base.name, shared);
  const instance = `const ${variable} = new ${className}()${map.semicolon}`;
  const edits = [...base.edits, ...declare(map, { lines, instance, anchor })];
  if (from === undefined || node === undefined) edits.push(writeStart(context, variable, startOf(anchor)));
  else if (existing === undefined) {
    const source = referenceTo(node, place.scope);
    edits.push(addConnections(context, [{ source, target: variable, action: from.action }]));
  } else {
    const target = argumentOf(existing, 1) ?? refuse('The connection has no target in the source.');
    edits.push(map.replaceNode(target, variable));
    const follower = { source: variable, target: map.source.textOf(target), action: DEFAULT_ACTION };
    edits.push(addConnections(context, [follower]));
  }
  return { edits, id: nameIn(place.scope, variable) };
}

interface Declared {
  readonly lines: readonly string[];
  readonly instance: string;
  readonly anchor: t.Node;
}

/** The class goes below the last class above the flow, the instance above the statement that connects it. */
function declare(map: SourceMap, { lines, instance, anchor }: Declared): TextEdit[] {
  const top = topOf(map, anchor);
  const isClass = (node: t.Node): boolean =>
    node.type === 'ClassDeclaration' ||
    (node.type === 'ExportNamedDeclaration' && node.declaration?.type === 'ClassDeclaration');
  const above = map.program.body.filter((node) => startOf(node) < startOf(top) && isClass(node)).at(-1);
  if (above !== undefined) return [map.insertBelow(above, ['', ...lines]), map.insertAbove(anchor, [instance])];
  if (top === anchor) return [map.insertAbove(anchor, [...lines, '', instance])];
  return [map.insertAbove(top, [...lines, '']), map.insertAbove(anchor, [instance])];
}

function topOf(map: SourceMap, node: t.Node): t.Node {
  let at = node;
  for (;;) {
    const parent = map.parentOf(at);
    if (parent === undefined || parent.type === 'Program') return at;
    at = parent;
  }
}
