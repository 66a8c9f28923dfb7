import type * as t from '@babel/types';
import type { TextEdit } from '../graph/graph.ts';
import { visitNodes } from '../syntax/nodes.ts';
import { startOf } from '../syntax/sourceFile.ts';
import type { Instance } from '../interpreter/values.ts';
import {
  addConnections,
  argumentOf,
  callOf,
  connectPlace,
  edgeOf,
  type EditContext,
  instanceOf,
  referenceTo,
  removeConnection,
} from './connectionEdits.ts';
import { refuse, type SourceMap } from './sourceMap.ts';
import { removeFromList, removeStart, writeStart } from './startEdits.ts';
import type { FlowOperation } from '../graph/flowOperation.ts';
import { DEFAULT_ACTION } from '../../agents/graph/unit.ts';
import { nameIn } from '../interpreter/scopes.ts';
import { classLines, freeVariable, libraryClass, sharedType } from './scaffold.ts';

type Wanted = Pick<Extract<FlowOperation, { type: 'addNode' }>, 'className' | 'from'>;

interface Declared {
  readonly lines: readonly string[];
  readonly instance: string;
  readonly anchor: t.Node;
}

/** Removes a node from the flow: its connections, the start if it is this node, and its variable if nothing else uses it. */
export function deleteNode(context: EditContext, id: string): TextEdit[] {
  const { map, flow } = context;
  const node = instanceOf(context, id);
  const touching = flow.graph.edges.filter(({ source, target }) => source === id || target === id);
  const edits = touching.map((edge) => removeConnection(context, edgeOf(context, edge.id)));
  if (flow.graph.start === id) edits.push(...removeStart(context));
  // The source of a nested flow stays, because it is more than a node.
  return node.flow === undefined ? [...edits, ...removeVariable(map, node, edits)] : edits;
}

/** Removes `const node = new Work()`, also from a list of declarations, if no remaining code uses it. */
function removeVariable(map: SourceMap, { creation, file }: Instance, removed: readonly TextEdit[]): TextEdit[] {
  if (file !== map.source) return [];
  const parent = map.parentOf(creation);
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') {
    const declaration = map.parentOf(parent);
    if (declaration?.type !== 'VariableDeclaration' || isExported(map, declaration)) return [];
    if (isUsed(map, parent.id, removed)) return [];
    if (declaration.declarations.length === 1) return [map.removeStatement(declaration)];
    return [removeFromList(map, declaration.declarations, parent, declaration)];
  }
  return parent?.type === 'ArrayExpression' ? removeDestructured(map, parent, creation, removed) : [];
}

/** `const [a, b] = [new A(), new B()]` without one of its pairs. */
function removeDestructured(
  map: SourceMap,
  list: t.ArrayExpression,
  creation: t.Node,
  removed: readonly TextEdit[],
): TextEdit[] {
  const declarator = map.parentOf(list);
  if (declarator?.type !== 'VariableDeclarator' || declarator.id.type !== 'ArrayPattern') return [];
  const declaration = map.parentOf(declarator);
  if (declaration?.type !== 'VariableDeclaration' || isExported(map, declaration)) return [];
  const { elements: names } = declarator.id;
  const index = list.elements.findIndex((element) => element === creation);
  const name = names[index];
  const isPlain = names.length === list.elements.length && names.every((one) => one?.type === 'Identifier');
  if (!isPlain || name?.type !== 'Identifier' || isUsed(map, name, removed)) return [];
  if (names.length > 1)
    return [removeFromList(map, names, name, declarator.id), removeFromList(map, list.elements, creation, list)];
  return declaration.declarations.length === 1 ? [map.removeStatement(declaration)] : [];
}

function isExported(map: SourceMap, declaration: t.Node): boolean {
  return map.parentOf(declaration)?.type === 'ExportNamedDeclaration';
}

/** Whether a name occurs anywhere outside its declaration and the removed code. */
function isUsed(map: SourceMap, declared: t.Identifier, removed: readonly TextEdit[]): boolean {
  let isFound = false;
  visitNodes(map.program, (node) => {
    if (node.type !== 'Identifier' || node.name !== declared.name || node === declared) return;
    const offset = startOf(node);
    isFound ||= !removed.some(({ range: { start, end } }) => start.offset <= offset && offset < end.offset);
  });
  return isFound;
}

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
